/** Starting a host that outlives whoever starts it. */
import { spawn } from "node:child_process";
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanEnvironment } from "../platform/child-environment.ts";
import { nodeProgram } from "../platform/node-program.ts";
import { agentDir } from "../platform/state-folder.ts";
import type { StatePaths } from "../platform/state-folder.ts";
import { failureLine } from "./host-error.ts";

/** How a started host ended. One that found another host in its place ended well. */
export type HostExit = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export interface HostStart {
  readonly pid: number | undefined;
  /** Settles when the process has ended; a host that serves leaves it open. */
  readonly exit: Promise<HostExit>;
  /** Lets the caller's process end before the host does. */
  release(): void;
  /** Ends it at once, for a host that never came to listen: nobody else knows of it. */
  kill(): void;
}

const OUTPUT_BYTES_MAX = 64 * 1024;

/** What a host is started with: the caller's cleaned environment, with its folders made absolute. */
export function hostEnvironment(paths: StatePaths): Record<string, string> {
  return {
    ...cleanEnvironment(),
    PI_WORKFLOWS_HOME: paths.folder,
    PI_CODING_AGENT_DIR: agentDir(),
  };
}

/**
 * Starts a host in a session of its own, so that neither Ctrl-C nor a closed
 * terminal reaches it. Its error output goes to a file without a name, which is
 * read if it ends: a reason is never lost and nothing is left behind.
 */
export function startHost(hostEntry: string, paths: StatePaths): HostStart {
  const node = nodeProgram();
  if (node.program === undefined) return notStarted(node.problem);
  const output = openNameless();
  const child = spawn(node.program, [hostEntry], {
    detached: true,
    // A host must not hold the folder it happened to be started from.
    cwd: "/",
    env: hostEnvironment(paths),
    stdio: ["ignore", "ignore", output],
  });
  const exit = new Promise<HostExit>((resolve) => {
    const settle = (result: HostExit): void => {
      closeSync(output);
      resolve(result);
    };
    child.once("error", (error) => settle({ ok: false, reason: error.message }));
    child.once("exit", (code, signal) => {
      settle(code === 0 ? { ok: true } : { ok: false, reason: reasonOf(output, code, signal) });
    });
  });
  return {
    pid: child.pid,
    exit,
    release: () => child.unref(),
    kill: () => void child.kill("SIGKILL"),
  };
}

const nothing = (): void => undefined;

function notStarted(reason: string): HostStart {
  const exit = Promise.resolve({ ok: false, reason } as const);
  return { pid: undefined, exit, release: nothing, kill: nothing };
}

function reasonOf(output: number, code: number | null, signal: string | null): string {
  const how = signal === null ? `exit code ${code}` : `ended by ${signal}`;
  return failureLine(readAll(output)) ?? `it said nothing (${how})`;
}

function openNameless(): number {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-start-"));
  try {
    return openSync(join(folder, "stderr"), "w+", 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readAll(file: number): string {
  const bytes = Buffer.alloc(Math.min(fstatSync(file).size, OUTPUT_BYTES_MAX));
  const count = readSync(file, bytes, 0, bytes.length, 0);
  return bytes.toString("utf8", 0, count);
}
