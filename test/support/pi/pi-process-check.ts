/** What must hold of every Pi that a test has started, once the test has ended. */
import { readFileSync, readdirSync } from "node:fs";
import { expect } from "vitest";
import type { PiExit, PiRecord } from "./pi-records.ts";
import { until } from "./until.ts";

/** An orderly stop of a host and its workers, on a busy machine. */
const END_GRACE_MS = 5000;

export interface Process {
  readonly pid: number;
  readonly command: string;
}

/** Processes that know this folder, from their command line or their environment. */
export function processesOf(folder: string): readonly Process[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => knows(pid, folder))
    .map((pid) => ({ pid, command: read(pid, "cmdline").replaceAll("\0", " ").trim() }));
}

/** Fails when something still runs after a moment of grace; what does is ended. */
export async function expectNothingLeft(folder: string): Promise<void> {
  let left: readonly Process[] = [];
  const empty = (): boolean => {
    left = processesOf(folder);
    return left.length === 0;
  };
  await until(empty, { timeoutMs: END_GRACE_MS, what: () => "the end" }).catch(() => undefined);
  for (const { pid } of left) signalTo(pid, "SIGKILL");
  const commands = left.map(({ pid, command }) => `${pid} ${command}`);
  if (left.length > 0) throw new Error(`left running with ${folder}:\n${commands.join("\n")}`);
}

/** A Pi that was told to quit has done so, and no extension has failed in it. */
export function expectCleanEnd(exit: PiExit, log: readonly PiRecord[]): void {
  expect(extensionErrors(log), "extension errors").toEqual([]);
  expect(exit, "the end of Pi").toEqual({ code: 0, signal: null, stderr: "" });
}

export function extensionErrors(log: readonly PiRecord[]): readonly PiRecord[] {
  return log.filter((record) => record.type === "extension_error");
}

/** Whether the process has this folder in its command line or its environment; a dead one has neither. */
export function knows(pid: number, folder: string): boolean {
  return read(pid, "cmdline").includes(folder) || read(pid, "environ").includes(folder);
}

/** Also for a process that may have ended by itself a moment ago. */
export function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** What ended while we looked, or belongs to somebody else, reads as empty. */
function read(pid: number, file: "cmdline" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
