import { HostError } from "../errors.ts";
import type { AttemptEvent } from "../lifecycle/attempt.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { RunStatus } from "../lifecycle/run.ts";
import type { AttemptRecord, FailureRecord, GraphRecord, SourceWithContent } from "../records.ts";
import {
  closeAttempt,
  countedAttempts,
  isCounted,
  openAttempt,
  requireRunning,
} from "./attempt-rows.ts";
import { abandonEffects, openEffects, settleEffect } from "./effect-rows.ts";
import type { EffectOutcome } from "./effect-rows.ts";
import { mayRetry, nodeOf, runGraph, targetsFrom } from "./graph.ts";
import { boundedFailure, changeRun, releaseClaim, storeSources, storeValue } from "./step.ts";
import type { Step } from "./step.ts";
import { announceEnd, tellSession } from "./session-messages.ts";
import { acceptSubmission, validatedAttempt } from "./submission-rows.ts";
import type { ValidatedAttempt } from "./submission-rows.ts";

/** How an attempt ended, as its worker tells it. */
export type AttemptResult =
  | {
      readonly outcome: "ok";
      readonly outputJson: string;
      readonly effect?: EffectOutcome;
      /** What a notify node has to say. */
      readonly notification?: NotificationRecord;
    }
  | {
      readonly outcome: "failed" | "timed_out" | "unknown";
      readonly error: FailureRecord;
      readonly effect?: EffectOutcome;
    };

export interface NotificationRecord {
  readonly text: string;
  readonly final: boolean;
}

/** The attempt that follows: along an edge, or another try of the same visit. */
export interface NextStep {
  readonly kind: "next";
  readonly node: string;
  readonly retry: boolean;
  readonly timeoutMs?: number;
}

export interface RunEnd {
  readonly kind: "end";
  readonly outcome: "ok" | "failed" | "timed_out";
  /** With `ok`: the result as JSON text. */
  readonly resultJson?: string;
  /** Otherwise: the error. */
  readonly error?: FailureRecord;
}

/** The answer to a proposal. `parked` tells the worker to exit. */
export interface AckRecord {
  readonly boundary: number;
  readonly attemptId?: string;
  readonly attempt?: number;
  readonly visit?: number;
  readonly parked: boolean;
}

const ENDS = { ok: "succeed", failed: "fail", timed_out: "time_out" } as const satisfies Record<
  string,
  AttemptEvent
>;

const UNKNOWN_CANNOT_ROUTE = "an attempt with an unknown outcome can neither be routed nor wait";

const FINISHED = {
  ok: "completed",
  failed: "failed",
  timed_out: "timed_out",
} as const satisfies Record<RunEnd["outcome"], RunStatus>;

/** What every proposal says of its place, and the sources it brings. */
export interface Proposal {
  readonly expectedBoundary: number;
  readonly attemptId: string;
  readonly newSources: readonly SourceWithContent[];
}

/** The attempt whose edge is to be taken, or the effect that a person must settle first. */
export type Ended = { readonly closed: AttemptRecord } | { readonly held: string };

/** Refuses a proposal for another boundary than the run's; takes in the sources it brings. */
export function takeProposal(step: Step, { expectedBoundary, newSources }: Proposal): void {
  requireBoundary(step, expectedBoundary);
  storeSources(step, newSources);
}

export function requireBoundary({ run }: Step, expected: number): void {
  if (run.boundary === expected) return;
  const message = `run ${run.runId} is at boundary ${run.boundary}, not ${expected}`;
  throw new HostError("STALE_REVISION", message, { runId: run.runId, revision: run.revision });
}

/**
 * With a result the running attempt ends now; without one the host has ended it
 * before, and the activation only routes. `again` says that another try follows.
 */
export function endAttempt(
  step: Step,
  attemptId: string,
  { result, again }: { readonly result?: AttemptResult | undefined; readonly again: boolean },
): Ended {
  if (result === undefined) return { closed: requireClosed(step, attemptId) };
  const validated = validatedAttempt(step, attemptId);
  if (validated !== undefined) return { closed: acceptResult(step, validated, result) };
  const attempt = requireRunning(step, attemptId);
  if (result.outcome === "unknown") throw new HostError("REQUEST_INVALID", UNKNOWN_CANNOT_ROUTE);
  const context = { attempt, ok: result.outcome === "ok", again };
  const held = settleEffect(step, result.effect, context);
  if (held !== undefined) return { held };
  closeAttempt(step, attempt, {
    event: ENDS[result.outcome],
    ...(result.outcome === "ok"
      ? { output: storeValue(step.tx, result.outputJson, "the output") }
      : { error: result.error }),
  });
  if (result.outcome === "ok") notify(step, result);
  return { closed: { ...attempt, status: result.outcome } };
}

/** The validated submission is the result of the attempt that waited for it. */
function acceptResult(
  step: Step,
  { attempt, submission }: ValidatedAttempt,
  result: AttemptResult,
): AttemptRecord {
  if (result.outcome !== "ok" || result.effect !== undefined) {
    const message = `attempt ${attempt.attemptId} waits for a result: accept or reject the submission`;
    throw new HostError("REQUEST_INVALID", message);
  }
  const output = storeValue(step.tx, result.outputJson, "the output");
  acceptSubmission(step, submission, output);
  closeAttempt(step, attempt, { event: "succeed", output });
  return { ...attempt, status: "ok" };
}

/** Only a notify node has something to say. */
function notify(
  step: Step,
  { notification }: { readonly notification?: NotificationRecord },
): void {
  const { node } = step.run;
  if (notification === undefined) return;
  if (nodeOf(runGraph(step.tx, step.run), node)?.kind !== "notify") {
    throw new HostError("REQUEST_INVALID", `node ${node} is no notify node`);
  }
  tellSession(step, { ...notification, node });
}

/** Takes the edge, or tries again: the next attempt is open, or the run is paused before it. */
export function takeNext(step: Step, closed: AttemptRecord, next: NextStep): AckRecord {
  const { tx, run } = step;
  const graph = runGraph(tx, run);
  if (next.retry) requireRetry(step, graph, closed);
  else requireEdge(step, graph, next.node);
  if (!next.retry) leaveVisit(step);

  const visit = next.retry ? run.visit : tx.attempts.maxVisit(run.runId, next.node) + 1;
  const boundary = run.boundary + 1;
  const to = run.pauseRequested ? "paused" : "running";
  const opened = to === "paused" ? undefined : openAttempt(step, { ...next, visit }, closed);
  if (to === "paused") releaseClaim(step);
  changeRun(step, {
    event: "advance",
    change: {
      status: runLifecycle.next(run.status, "advance", to),
      pauseRequested: false,
      boundary,
      node: next.node,
      visit,
      steps: run.steps + (next.retry ? 0 : 1),
      routing: false,
      activation: next.retry ? "continue" : "start",
      noProgress: 0,
    },
    data: { ...dataOf(step, closed), to: next.node, visit },
  });
  if (opened === undefined) return { boundary, parked: true };
  const { attemptId, attempt } = opened;
  return { boundary, attemptId, attempt, visit, parked: false };
}

/** Ends the run with its result or error; nothing of it stays open. */
export function finishRun(step: Step, closed: AttemptRecord, end: RunEnd): AckRecord {
  const { tx, run, at } = step;
  requireEnd(step, closed, end);
  abandonEffects(step, openEffects(tx, run.runId), "the run ended");
  releaseClaim(step);
  const boundary = run.boundary + 1;
  const failure = end.error ?? { name: "Error", message: "the run failed without an error" };
  const ended = changeRun(step, {
    event: "finish",
    change: {
      status: runLifecycle.next(run.status, "finish", FINISHED[end.outcome]),
      pauseRequested: false,
      boundary,
      routing: false,
      noProgress: 0,
      finishedAt: at,
      ...(end.outcome === "ok"
        ? { result: storeValue(tx, end.resultJson ?? "null", "the result") }
        : { error: boundedFailure(failure) }),
    },
    data: { ...dataOf(step, closed), end: end.outcome },
  });
  announceEnd(ended);
  return { boundary, parked: true };
}

/** Which attempt ended and how; with an accepted submission also what it answered. */
function dataOf(
  { tx, run }: Step,
  { attemptId, status }: AttemptRecord,
): Readonly<Record<string, unknown>> {
  const told = { attemptId, outcome: status };
  // Nothing else accepts a submission, and most boundaries need not look for one.
  if (run.activation !== "validate") return told;
  return { ...told, interactionId: tx.interactions.ofAttempt(attemptId)?.interactionId };
}

/** Refuses another try of a visit that did not fail or has used up its tries. */
export function requireRetry(step: Step, graph: GraphRecord, closed: AttemptRecord): void {
  const { tx, run } = step;
  const counted = countedAttempts(tx, run);
  if (isCounted(closed) && mayRetry(graph, run.node, counted)) return;
  throw illegal(step, `node ${run.node} has no further try after ${counted} that failed`);
}

function requireEdge(step: Step, graph: GraphRecord, to: string): void {
  const { run } = step;
  if (nodeOf(graph, to) === undefined || !targetsFrom(graph, run.node).includes(to)) {
    throw illegal(step, `no edge leads from ${run.node} to ${to}`);
  }
  if (run.steps < graph.maxSteps) return;
  throw new HostError("LIMIT_EXCEEDED", `the run may make ${graph.maxSteps} steps, no more`, {
    runId: run.runId,
    limit: graph.maxSteps,
    actual: run.steps + 1,
  });
}

function requireEnd(step: Step, closed: AttemptRecord, end: RunEnd): void {
  if (end.outcome !== "ok") return;
  const { tx, run } = step;
  if (closed.status !== "ok") {
    throw illegal(step, `the run cannot complete: node ${run.node} ended ${closed.status}`);
  }
  if (targetsFrom(runGraph(tx, run), run.node).length === 0) return;
  throw illegal(step, `the run cannot complete at node ${run.node}: an edge leaves it`);
}

function requireClosed(step: Step, attemptId: string): AttemptRecord {
  const { tx, run } = step;
  const newest = tx.attempts.newest(run.runId);
  if (run.routing && newest?.attemptId === attemptId) return newest;
  throw illegal(step, `attempt ${attemptId} has no committed outcome to route on`);
}

/** What the visit's effects leave open cannot be taken up by a later visit: its key is its own. */
function leaveVisit(step: Step): void {
  const { tx, run } = step;
  const left = openEffects(tx, run.runId).filter(
    (effect) => effect.node === run.node && effect.visit === run.visit,
  );
  abandonEffects(step, left, "the node was left");
}

function illegal({ run }: Step, message: string): HostError {
  return new HostError("ILLEGAL_TRANSITION", message, { runId: run.runId, state: run.status });
}
