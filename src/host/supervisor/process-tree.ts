/**
 * Ends everything that descends from one worker, and says so only when it is true.
 *
 * A process belongs to the tree when it is a leader the host recorded, or
 * carries the worker's tag, or is in the group of one that does: whoever
 * descends from a worker is in a session that began there, so no group of
 * theirs holds a stranger. Numbers alone are never believed.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import {
  bootId,
  eachTagged,
  groupOf,
  isAlive,
  livingProcesses,
  taggedProcesses,
} from "../../platform/process-identity.ts";
import type { ProcessIdentity, ProcessRow } from "../../platform/process-identity.ts";
import { KILL_GRACE_MS } from "../limits.ts";

/** A process that leads a group, as it was recorded. */
export interface GroupLeader {
  readonly pid: number;
  readonly startTime: string;
}

/** What is known of one worker's processes. */
export interface TreeRoot extends GroupLeader {
  readonly workerId: string;
  /** Commands it started in groups of their own. */
  readonly groups: readonly GroupLeader[];
}

export interface TreeOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** What all tags of this state folder begin with. */
  readonly storeTag: string;
}

/** Whom an end is about. */
interface Quarry {
  /** Who of it is alive, without the rest of their groups. */
  readonly survey: () => readonly number[];
  /** Whether a tag of this state folder is one of its own. */
  readonly carries: (tag: string) => boolean;
}

type Signal = "SIGTERM" | "SIGKILL";

/** First and longest pause between two looks at a tree that is ending. */
const POLL_MS_MIN = 5;
const POLL_MS_MAX = 250;
/** A process that survives SIGKILL so long hangs in the kernel; somebody should know. */
const STUCK_MS = 10_000;

export class ProcessTree {
  readonly #options: TreeOptions;
  /** Members of a dead worker's group, seen while its number could not yet mean another process. */
  readonly #orphans = new Map<string, readonly ProcessIdentity[]>();

  constructor(options: TreeOptions) {
    this.#options = options;
  }

  /**
   * SIGTERM, after 2 s SIGKILL, until nothing of the tree is alive; resolves
   * with the number of processes that were found at first. Safe to repeat.
   */
  async end(root: TreeRoot): Promise<number> {
    const count = await this.#endAll(root.workerId, {
      survey: () => this.#survey(root),
      carries: (tag) => tag.endsWith(`.${root.workerId}`),
    });
    this.#orphans.delete(root.workerId);
    return count;
  }

  /** As `end`, for everything that carries a tag of this state folder and is not of this epoch. */
  async endStrays(hostEpoch: number): Promise<number> {
    const own = `${this.#options.storeTag}.${hostEpoch}.`;
    const carries = (tag: string): boolean => !tag.startsWith(own);
    return this.#endAll("strays", {
      survey: () => {
        const tagged = taggedProcesses(this.#options.storeTag);
        return othersOf(tagged.filter(({ tag }) => carries(tag)).map(({ pid }) => pid));
      },
      carries,
    });
  }

  /**
   * To be called in the very moment the host learns of a worker's death: what
   * is still in its group then is the worker's, even without a tag.
   */
  noteDeath(workerId: string, pid: number): void {
    if (!isSafeGroup(pid) || !groupExists(pid)) return;
    const left = livingProcesses().filter((row) => row.pgid === pid);
    if (left.length > 0) this.#orphans.set(workerId, left.map(identify));
  }

  #survey(root: TreeRoot): readonly number[] {
    const recorded = [root, ...root.groups].map(identify);
    const orphans = this.#orphans.get(root.workerId) ?? [];
    const alive = [...recorded, ...orphans].filter(isAlive);
    const tagged = taggedProcesses(this.#options.storeTag);
    const carriers = tagged.filter(({ tag }) => tag.endsWith(`.${root.workerId}`));
    return othersOf([...alive, ...carriers].map(({ pid }) => pid));
  }

  async #endAll(what: string, { survey, carries }: Quarry): Promise<number> {
    const { clock, log } = this.#options;
    const started = clock.monotonic();
    const told = new Set<string>();
    let found = survey();
    const count = withGroups(found).length;
    let pauseMs = POLL_MS_MIN;
    let complained = false;
    while (found.length > 0) {
      const elapsed = clock.monotonic() - started;
      // SIGTERM reaches each process once, for it may take its time; SIGKILL whoever is left.
      if (elapsed < KILL_GRACE_MS) terminate(withGroups(found), told);
      else {
        killHard(withGroups(found));
        this.#chase(carries);
      }
      if (elapsed > STUCK_MS && !complained) {
        complained = true;
        log.warn("tree.survives_kill", { what, pids: found });
      }
      await pause(clock, pauseMs);
      pauseMs = Math.min(pauseMs * 2, POLL_MS_MAX);
      found = survey();
      if (found.length > 0) continue;
      // One that was taking another program in that moment carried no tag.
      await pause(clock, POLL_MS_MIN);
      found = survey();
    }
    return count;
  }

  /** Whoever starts another in its place is met while it is there, not after all others were looked at. */
  #chase(carries: (tag: string) => boolean): void {
    for (const { pid, tag } of eachTagged(this.#options.storeTag)) {
      if (carries(tag) && othersOf([pid]).length > 0) send(pid, "SIGKILL");
    }
  }
}

/** True for a group that may be signalled as a whole: not ours, and not the whole machine. */
export function isSafeGroup(pgid: number): boolean {
  return Number.isInteger(pgid) && pgid > 1 && pgid !== process.pid && pgid !== ownGroup();
}

/**
 * Signals the group of a child of ours that has not been waited for, so that
 * its number is still its own. Falls back to the child alone where it leads no
 * group.
 */
export function signalChild(pid: number, signal: Signal): void {
  if (isSafeGroup(pid) && groupOf(pid) === pid) send(-pid, signal);
  else if (pid > 1 && pid !== process.pid) send(pid, signal);
}

function othersOf(pids: readonly number[]): readonly number[] {
  return pids.filter((pid) => pid > 1 && pid !== process.pid);
}

/**
 * Those of them that still live, and all members of their groups; never this process or its group.
 * None at all may mean that all have started others in their places since they were seen.
 */
function withGroups(pids: readonly number[]): readonly ProcessRow[] {
  const wanted = new Set(pids);
  if (wanted.size === 0) return [];
  const living = livingProcesses();
  const groups = new Set(living.filter((row) => wanted.has(row.pid)).map((row) => row.pgid));
  return living.filter(
    (row) => wanted.has(row.pid) || (groups.has(row.pgid) && isSafeGroup(row.pgid)),
  );
}

function terminate(found: readonly ProcessRow[], told: Set<string>): void {
  for (const row of found) {
    const key = `${row.pid}:${row.startTime}`;
    if (told.has(key)) continue;
    told.add(key);
    if (isAlive(identify(row))) send(row.pid, "SIGTERM");
  }
}

/** By group first: a group cannot outrun one signal by forking. */
function killHard(found: readonly ProcessRow[]): void {
  const groups = new Set<number>();
  for (const row of found) {
    if (!isAlive(identify(row))) continue;
    if (isSafeGroup(row.pgid) && !groups.has(row.pgid)) send(-row.pgid, "SIGKILL");
    else send(row.pid, "SIGKILL");
    groups.add(row.pgid);
  }
}

function identify({ pid, startTime }: GroupLeader): ProcessIdentity {
  return { pid, startTime, bootId: bootId() };
}

function groupExists(pgid: number): boolean {
  try {
    return process.kill(-pgid, 0);
  } catch {
    return false;
  }
}

function send(target: number, signal: Signal): void {
  try {
    process.kill(target, signal);
  } catch {
    // It ended in between, or became another user's; the next look tells.
  }
}

let group: number | undefined;

function ownGroup(): number | undefined {
  group ??= groupOf(process.pid);
  return group;
}

async function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
