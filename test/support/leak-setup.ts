/**
 * No test file may leave a process or a temporary file behind. Each file gets a
 * temporary folder of its own; what still lies in it, or still runs with it in
 * its environment, once the file has ended was left by that file. A process
 * that has been told to end gets a moment to do so.
 */
import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, vi } from "vitest";
import { finishFile } from "./file-end.ts";
import { newTestFolder, removeTestFolder } from "./memory-folder.ts";

const END_GRACE_MS = 3000; // a host's orderly stop, on a busy machine
const POLL_MS = 20;

interface Process {
  readonly pid: number;
  readonly command: string;
}

const folder = newTestFolder(process.env["TEST_FOLDERS"]);
process.env["TMPDIR"] = folder;

afterAll(async () => {
  vi.useRealTimers();
  await finishFile();
  const left = await processesLeft();
  for (const { pid } of left) kill(pid);
  try {
    expect(left, "processes left running").toEqual([]);
    expect(readdirSync(folder), `entries left in the temporary folder ${folder}`).toEqual([]);
  } finally {
    removeTestFolder(folder);
  }
});

async function processesLeft(): Promise<readonly Process[]> {
  const deadline = Date.now() + END_GRACE_MS;
  for (;;) {
    const left = processes().filter(isOurs);
    if (left.length === 0 || Date.now() > deadline) return left;
    await sleep(POLL_MS);
  }
}

function isOurs({ pid, command }: Process): boolean {
  return (
    pid !== process.pid &&
    environment(pid).includes(`TMPDIR=${folder}`) &&
    !isCompilerService(command)
  );
}

/** Without a process table there is nothing to ask; files are still checked. */
function processes(): readonly Process[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid))
    .map((pid) => ({ pid, command: commandLine(pid) }));
}

/** esbuild keeps one idle child for the life of the process that loaded it; it ends with it. */
function isCompilerService(command: string): boolean {
  return command.includes("esbuild --service=");
}

function environment(pid: number): readonly string[] {
  return read(`/proc/${pid}/environ`).split("\0");
}

function commandLine(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself after all, too late to be forgiven.
  }
}

/** A process that ended while we looked, or belongs to somebody else, reads as empty. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
