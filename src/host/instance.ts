/** One host per state folder: the lock, the socket's place, and the file that tells where it is. */
import { lstatSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import type { StatePaths } from "../platform/state-folder.ts";
import { fileId, takeHostLock } from "./store/host-lock.ts";

/** What a host says about itself in host.json. */
export interface HostDescription {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  readonly version: string;
  readonly epoch: number;
  readonly startedAt: string;
}

/** Something in the state folder that is not ours to use or to remove. */
export class InstanceError extends Error {
  override readonly name = "InstanceError";
}

export type Identity = "same" | "lock_replaced" | "socket_gone";

export interface Instance {
  /** Frees the socket's path of what a dead host left. Refuses what no host left. */
  clearSocket(): void;
  /** Tells clients where the host listens. Call it once it does. */
  publish(description: HostDescription): void;
  /** Whether the lock and the socket at their paths are still this host's. */
  identity(): Identity;
  /** Withdraws host.json and gives the lock back; the last thing a host does. */
  release(): void;
}

/** Becomes the host of the folder; nothing when the folder has one. */
export function becomeInstance(paths: StatePaths): Instance | undefined {
  const lock = takeLock(paths.lock);
  if (lock === undefined) return undefined;
  let socketId: string | undefined;
  return {
    clearSocket: () => clearSocket(paths.socket),
    publish(description) {
      socketId = fileId(paths.socket);
      writeHostFile(paths, description);
    },
    identity() {
      if (!lock.isSame()) return "lock_replaced";
      return socketId !== undefined && socketId === fileId(paths.socket) ? "same" : "socket_gone";
    },
    release() {
      withdrawHostFile(paths.hostFile);
      lock.release();
    },
  };
}

function takeLock(path: string): ReturnType<typeof takeHostLock> {
  try {
    return takeHostLock(path);
  } catch (error) {
    const reason = (error as Error).message;
    throw new InstanceError(`the lock file ${path} cannot be used (${reason}); remove it`, {
      cause: error,
    });
  }
}

/** Whoever holds the lock may take a dead host's socket away, and nothing but a socket. */
function clearSocket(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) {
    const kind = stats.isSymbolicLink() ? "a symbolic link" : "no socket";
    throw new InstanceError(`${path} is ${kind} and was not left by a host; remove it`);
  }
  unlinkSync(path);
}

function writeHostFile(paths: StatePaths, description: HostDescription): void {
  const text = JSON.stringify({ ...description, socket: paths.socket });
  const draft = `${paths.hostFile}.${description.pid}`;
  try {
    writeFileSync(draft, `${text}\n`, { mode: 0o600 });
    renameSync(draft, paths.hostFile);
  } catch (error) {
    rmSync(draft, { force: true });
    const reason = (error as Error).message;
    throw new InstanceError(
      `${paths.hostFile} cannot be written (${reason}); free its place, or the disk`,
      { cause: error },
    );
  }
}

/** Another host's file, after ours was moved away together with its folder, stays. */
function withdrawHostFile(path: string): void {
  try {
    const { pid } = JSON.parse(readFileSync(path, "utf8")) as { readonly pid?: unknown };
    if (pid === process.pid) rmSync(path, { force: true });
  } catch {
    // Absent or unreadable: then it tells nobody anything.
  }
}
