/** Real hosts, and runs whose nodes write down when they began. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fromJson } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { onTestFinished, vi } from "vitest";
import { newId } from "../../src/platform/ids.ts";
import { cpuMsOf } from "../../src/platform/process-identity.ts";
import type { RealHost } from "../support/real-host.ts";

const WORKFLOWS = join(import.meta.dirname, "workflows");
/** For what takes seconds at most, on a machine that others use too. */
const PATIENCE_MS = 120_000;

/** Milliseconds on the clock that the marks of all processes are made with. */
export function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "b-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The workflows in a folder in which no host has seen them yet. */
export function newProject(): string {
  const folder = newFolder();
  cpSync(WORKFLOWS, folder, { recursive: true });
  return folder;
}

export interface Wanted {
  readonly projectDir: string;
  /** Name of the workflow's file without its ending. */
  readonly workflow: string;
  readonly input: JsonValue;
}

/** Starts a run and returns its id. */
export async function startRun({ runs }: RealHost, wanted: Wanted): Promise<string> {
  const { projectDir, workflow, input } = wanted;
  const { receipt } = await runs.startRun({
    command: newCommand(),
    workflow: join(projectDir, `${workflow}.workflow.ts`),
    projectDir,
    input: fromJson(ValueSchema, input),
  });
  return receipt?.runId ?? "";
}

export function newCommand(): { requestId: string; client: string } {
  return { requestId: newId("req"), client: "bench" };
}

export interface Mark {
  readonly atMs: number;
  readonly what: string;
}

export function marksIn(file: string): readonly Mark[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const space = line.indexOf(" ");
    return { atMs: Number(BigInt(line.slice(0, space))) / 1e6, what: line.slice(space + 1) };
  });
}

/** The first mark that begins so, once it is there. */
export async function untilMarked(file: string, what: string): Promise<Mark> {
  const find = (): Mark | undefined => marksIn(file).find((one) => one.what.startsWith(what));
  return await until(find);
}

export async function until<T>(find: () => T | Promise<T>): Promise<NonNullable<T>> {
  const found = await vi.waitUntil(find, { timeout: PATIENCE_MS, interval: 10 });
  // waitUntil resolves with what is true only.
  return found as NonNullable<T>;
}

const SPARE: ReadonlySet<string> = new Set(["spare", "preloaded"]);
/** Longer than a spare waits before it does what need not be done at once. */
const REST_MS = 700;

/**
 * Beside so many runs that execute, all spares are ready and at nothing any more: one of them has
 * the workflow used last, if there was one.
 */
export async function untilRested({ host }: RealHost, used = true, runs = 0): Promise<void> {
  const wanted = used ? "preloaded,spare" : "spare,spare";
  let seen = "";
  let since = clockMs();
  await until(async () => {
    const { workers } = await host.getStatus({});
    const spares = workers.filter(({ state }) => SPARE.has(state));
    const states = spares.map(({ state }) => state).toSorted();
    const now = spares.map(({ pid }) => `${pid} ${cpuMsOf(pid)}`).join();
    const isReady = states.join() === wanted && workers.length === spares.length + runs;
    if (!isReady || now !== seen) since = clockMs();
    seen = now;
    return clockMs() - since > REST_MS;
  });
}

export function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}

/** How long a process of Node takes that does nothing: what this machine is like right now. */
export async function bareNodeMs(): Promise<number> {
  const began = clockMs();
  await promisify(execFile)(process.execPath, ["-e", "0"]);
  return clockMs() - began;
}
