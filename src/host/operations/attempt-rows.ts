import { HostError } from "../errors.ts";
import { attemptLifecycle } from "../lifecycle/attempt.ts";
import type { AttemptEvent, AttemptStatus } from "../lifecycle/attempt.ts";
import { newId } from "../../platform/ids.ts";
import type { AttemptRecord, FailureRecord, RunRecord, ValueRef } from "../records.ts";
import type { Reader } from "../store/tx.ts";
import { boundedFailure } from "./step.ts";
import type { Step } from "./step.ts";

/** Where the next attempt is to be. */
export interface Place {
  readonly node: string;
  readonly visit: number;
  readonly timeoutMs?: number | undefined;
}

/**
 * Opens the next attempt of a visit: one higher than `newest`, the run's newest
 * attempt, when that is of the same visit, else the visit's first.
 */
export function openAttempt(
  { tx, run, at }: Step,
  place: Place,
  newest: AttemptRecord | undefined,
): AttemptRecord {
  const { node, visit, timeoutMs } = place;
  const isAgain = newest?.node === node && newest.visit === visit;
  const attempt: AttemptRecord = {
    attemptId: newId("att"),
    runId: run.runId,
    ordinal: (newest?.ordinal ?? 0) + 1,
    node,
    visit,
    attempt: isAgain ? newest.attempt + 1 : 1,
    status: "running",
    generation: run.generation,
    startedAt: at,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  tx.put.attempt(attempt);
  return attempt;
}

/** How an attempt ends: its event, and what it leaves behind. */
export interface AttemptEnd {
  readonly event: Exclude<AttemptEvent, "park">;
  readonly output?: ValueRef;
  readonly error?: FailureRecord;
}

export function closeAttempt({ tx, at }: Step, attempt: AttemptRecord, end: AttemptEnd): void {
  const { event, output, error } = end;
  tx.put.attemptChange(attempt.attemptId, {
    status: attemptLifecycle.next(attempt.status, event),
    finishedAt: at,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error: boundedFailure(error) }),
  });
}

/** Leaves the attempt open until an answer, a timer or a person ends it. */
export function parkAttempt({ tx }: Step, attempt: AttemptRecord): void {
  const status = attemptLifecycle.next(attempt.status, "park");
  tx.put.attemptChange(attempt.attemptId, { status });
}

/** Closes what a worker was executing, without evidence of an outcome. */
export function interruptAttempt(step: Step, reason: string): AttemptRecord | undefined {
  const attempt = step.tx.attempts.open(step.run.runId);
  if (attempt?.status !== "running") return undefined;
  closeAttempt(step, attempt, {
    event: "interrupt",
    error: { name: "Interrupted", message: reason },
  });
  return attempt;
}

/** The attempt that a worker executes and names; refuses any other. */
export function requireRunning({ tx, run }: Step, attemptId: string): AttemptRecord {
  const attempt = tx.attempts.open(run.runId);
  if (attempt?.attemptId === attemptId && attempt.status === "running") return attempt;
  throw new HostError("ILLEGAL_TRANSITION", `attempt ${attemptId} is not the running one`, {
    runId: run.runId,
    state: run.status,
  });
}

const COUNTED: ReadonlySet<AttemptStatus> = new Set(["failed", "timed_out"]);

export function isCounted({ status }: AttemptRecord): boolean {
  return COUNTED.has(status);
}

/** Tries of the run's present visit that count against `retry`. */
export function countedAttempts(reader: Reader, run: RunRecord): number {
  return reader.attempts.ofVisit(run.runId, run.node, run.visit).filter(isCounted).length;
}
