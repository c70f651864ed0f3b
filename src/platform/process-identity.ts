/**
 * Which process a number means.
 *
 * A pid is reused, a zombie still answers signal 0, and so does a group of
 * zombies. A process read back from disk is therefore known by pid, start time
 * and boot id together, and life is judged by its state.
 */
import { readFileSync, readdirSync } from "node:fs";
import { hasProc, psTable, psTagged } from "./process-table-ps.ts";
import type { ProcessRow } from "./process-table-ps.ts";

export type { ProcessRow } from "./process-table-ps.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, as the platform tells it; only ever compared. */
  readonly startTime: string;
  readonly bootId: string;
}

export interface TaggedProcess {
  readonly pid: number;
  /** The whole tag that it carries. */
  readonly tag: string;
}

/** The variable by which every process that descends from a worker is found again. */
export const TAG_VARIABLE = "PI_WORKFLOWS_TAG";

/** The tag this process was started with, where it is a worker or descends from one. */
export function ownTag(): string | undefined {
  return process.env[TAG_VARIABLE] || undefined;
}

/** Whoever forks faster than this many looks is not waited for: the loop has others to serve. */
const ROUNDS_MAX = 20;
/** While a process takes another program it has no environment for some microseconds. */
const LOOKS_MAX = 64;

/** The kernel reports processor time in ticks of 1/100 s on every Linux that Node supports. */
const TICK_MS = 10;

let cachedBootId: string | undefined;

/** Identity of a living process; absent when there is none, or only a zombie. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const row = readRow(pid);
  if (row === undefined || !lives(row)) return undefined;
  return { pid, startTime: row.startTime, bootId: bootId() };
}

/** True while that very process lives; a zombie and a reused pid are dead. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== bootId()) return false;
  const row = readRow(identity.pid);
  return row !== undefined && lives(row) && row.startTime === identity.startTime;
}

/** State letter of a process ("R", "S", "T", "Z", …); absent when there is none. */
export function stateOf(pid: number): string | undefined {
  return readRow(pid)?.state;
}

/** When a process started, also of one that has ended and whose parent has not noticed. */
export function startTimeOf(pid: number): string | undefined {
  return readRow(pid)?.startTime;
}

/** Processor time a process has used so far; absent when there is none. */
export function cpuMsOf(pid: number): number | undefined {
  return readRow(pid)?.cpuMs;
}

/** Group of a process; absent when there is none. */
export function groupOf(pid: number): number | undefined {
  return readRow(pid)?.pgid;
}

/** Living members of a process group; zombies do not count. */
export function groupMembers(pgid: number): readonly number[] {
  return livingProcesses()
    .filter((row) => row.pgid === pgid)
    .map((row) => row.pid);
}

/** All living processes; zombies do not count. */
export function livingProcesses(): readonly ProcessRow[] {
  return readTable().filter(lives);
}

/** Living processes whose environment carries exactly this tag, or one that continues it with a dot. */
export function taggedProcesses(tag: string): readonly TaggedProcess[] {
  return [...eachTagged(tag)];
}

/**
 * As `taggedProcesses`, each told in the moment it is found, so that it can be
 * signalled before it has started another in its place. Those that began during
 * the look are looked at too, until none did: what hands itself on from process
 * to process is never between two of them.
 */
export function* eachTagged(tag: string): Generator<TaggedProcess> {
  if (!hasProc()) {
    yield* psTagged(TAG_VARIABLE).filter((found) => continues(found.tag, tag));
    return;
  }
  const seen = new Set<number>();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const fresh = procPids().filter((pid) => !seen.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) {
      seen.add(pid);
      const carried = tagOf(pid);
      if (carried !== undefined && continues(carried, tag)) yield { pid, tag: carried };
    }
  }
}

/** Changes with every boot of the machine; pids of another boot mean nothing. */
export function bootId(): string {
  cachedBootId ??= readBootId();
  return cachedBootId;
}

function continues(carried: string, tag: string): boolean {
  return carried === tag || carried.startsWith(`${tag}.`);
}

function tagOf(pid: number): string | undefined {
  const text = environmentOf(pid);
  const prefix = `${TAG_VARIABLE}=`;
  // A zombie has no environment any more, so whoever is found here lives.
  if (text === undefined || !text.includes(prefix)) return undefined;
  const entry = text.split("\0").find((candidate) => candidate.startsWith(prefix));
  return entry?.slice(prefix.length);
}

function environmentOf(pid: number): string | undefined {
  let text = read(`/proc/${pid}/environ`);
  for (let looks = 1; text === "" && looks < LOOKS_MAX && hasMemory(pid); looks += 1) {
    text = read(`/proc/${pid}/environ`);
  }
  return text;
}

/** False for zombies and for threads of the kernel. */
function hasMemory(pid: number): boolean {
  return Number(statOf(pid)?.[20] ?? 0) > 0;
}

function lives(row: ProcessRow): boolean {
  return row.state !== "Z" && row.state !== "X";
}

function readTable(): readonly ProcessRow[] {
  if (!hasProc()) return psTable();
  return procPids()
    .map(readRow)
    .filter((row) => row !== undefined);
}

function readRow(pid: number): ProcessRow | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (!hasProc()) return psTable(pid)[0];
  const fields = statOf(pid);
  if (fields === undefined) return undefined;
  return {
    pid,
    state: fields[0] ?? "",
    pgid: Number(fields[2]),
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    startTime: fields[19] ?? "",
  };
}

/** Fields of the kernel's line on a process, from its state on. */
function statOf(pid: number): readonly string[] | undefined {
  const text = read(`/proc/${pid}/stat`);
  // The command's name stands in parentheses and may itself hold spaces and parentheses.
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function procPids(): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid > 0);
}

function readBootId(): string {
  return read("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1");
  } catch {
    // Gone, or another user's.
    return undefined;
  }
}
