import { HostError } from "../errors.ts";
import type { Instant } from "../records.ts";
import { control } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import { settleIfDue } from "./settle.ts";

/** Settled together, so that their commits can share one. */
const DUE_PAGE = 100;

/**
 * Settles every deadline and timer of a waiting run that is due, in due order
 * and each in its own transaction. Returns how many. What somebody else settles
 * at the same moment is left to them.
 */
export async function settleDue(host: HostContext, now: Instant): Promise<number> {
  let settled = 0;
  for (;;) {
    const runIds = dueRuns(host, now);
    if (runIds.length === 0) return settled;
    const outcomes = await Promise.all(runIds.map((runId) => settleRun(host, runId)));
    const done = outcomes.filter(Boolean).length;
    settled += done;
    // Whatever is due and cannot be settled now is looked at again at the next tick.
    if (done === 0) return settled;
  }
}

/** When the next deadline, timer or delayed run is due. A paused run has none. */
export function nextDue(host: HostContext): Instant | undefined {
  const { interactions, timers, runs } = host.store.reader;
  const times = [
    interactions.nextDeadline(),
    timers.nextDue(),
    runs.nextAvailableAt(host.clock.now()),
  ].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

function dueRuns(host: HostContext, now: Instant): readonly string[] {
  const { interactions, timers } = host.store.reader;
  const due = [
    ...interactions
      .due(now, DUE_PAGE)
      .map(({ runId, deadlineAt = now }) => ({ runId, deadlineAt })),
    ...timers.due(now, DUE_PAGE).map(({ runId, dueAt }) => ({ runId, deadlineAt: dueAt })),
  ];
  return due.toSorted((left, right) => left.deadlineAt - right.deadlineAt).map((one) => one.runId);
}

async function settleRun(host: HostContext, runId: string): Promise<boolean> {
  try {
    await control(host, "settle", runId, (tx, run) => {
      const step = { tx, run, at: host.clock.now() };
      if (!settleIfDue(step)) throw settledBefore(runId);
    });
    return true;
  } catch (error) {
    if (error instanceof HostError && OVERTAKEN.has(error.reason)) return false;
    throw error;
  }
}

const OVERTAKEN: ReadonlySet<string> = new Set([
  "ILLEGAL_TRANSITION",
  "CLAIM_LOST",
  "RUN_NOT_FOUND",
]);

function settledBefore(runId: string): HostError {
  return new HostError("ILLEGAL_TRANSITION", `run ${runId} waits for nothing that is due`);
}
