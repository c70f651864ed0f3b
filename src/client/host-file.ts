/** What a host says about itself beside its socket. */
import { readFileSync } from "node:fs";
import { isAlive } from "../platform/process-identity.ts";
import type { StatePaths } from "../platform/state-folder.ts";

export interface HostFile {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  readonly version: string;
  readonly epoch: number;
  readonly socket: string;
}

/** The last host that listened; absent after an orderly stop. It may have died since. */
export function readHostFile(paths: StatePaths): HostFile | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(paths.hostFile, "utf8"));
  } catch {
    // Absent, or being anything but what a host writes: no host can be found by it.
    return undefined;
  }
  return isHostFile(value) ? value : undefined;
}

/** The host that listens, or listened and still lives. */
export function livingHost(paths: StatePaths): HostFile | undefined {
  const file = readHostFile(paths);
  return file !== undefined && isAlive(file) ? file : undefined;
}

function isHostFile(value: unknown): value is HostFile {
  if (typeof value !== "object" || value === null) return false;
  const { pid, startTime, bootId, version, epoch, socket } = value as Record<string, unknown>;
  return (
    [pid, epoch].every((field) => typeof field === "number") &&
    [startTime, bootId, version, socket].every((field) => typeof field === "string")
  );
}
