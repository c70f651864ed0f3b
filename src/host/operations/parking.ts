import { HostError } from "../errors.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import { newId } from "../../platform/ids.ts";
import type { Instant } from "../records.ts";
import { parkAttempt, requireRunning } from "./attempt-rows.ts";
import { endAttempt, requireRetry } from "./boundary.ts";
import type { AckRecord, AttemptResult, Proposal } from "./boundary.ts";
import { parseJson } from "./canonical.ts";
import { applyingEffect } from "./effect-rows.ts";
import { nodeOf, runGraph } from "./graph.ts";
import { blockOnEffect } from "./interruption.ts";
import { changeRun, releaseClaim, storeValue } from "./step.ts";
import type { Step } from "./step.ts";

export interface InteractionRequest extends Proposal {
  /** One line that says what is asked. */
  readonly summary: string;
  readonly requestJson?: string;
  /** JSON Schema of the answer; without one anything goes. */
  readonly schemaJson?: string;
  readonly timeoutMs?: number;
}

export interface TimerRequest extends Proposal {
  readonly dueAt: Instant;
  /** With a back-off: how the attempt ended. Absent for a wait node, and when only routing. */
  readonly result?: AttemptResult;
}

/** Parks the run until somebody answers, or the deadline passes. */
export function parkOnInteraction(step: Step, request: InteractionRequest): AckRecord {
  const { tx, run, at } = step;
  const { attemptId, summary, requestJson, schemaJson, timeoutMs } = request;
  requireKind(step, "checkpoint");
  parkRunning(step, attemptId);
  const interactionId = newId("int");
  tx.put.interaction({
    interactionId,
    runId: run.runId,
    attemptId,
    node: run.node,
    visit: run.visit,
    kind: "checkpoint",
    status: "pending",
    summary,
    reminders: 0,
    modelErrors: 0,
    lostTurns: 0,
    createdAt: at,
    ...(requestJson === undefined ? {} : { request: storeValue(tx, requestJson, "the request") }),
    ...(schemaJson === undefined ? {} : { schema: storeSchema(step, schemaJson) }),
    ...(timeoutMs === undefined ? {} : { deadlineAt: at + timeoutMs }),
  });
  return parkRun(step, { interactionId, attemptId });
}

/** Parks the run until a time: that of a wait node, or of the next try of a failed attempt. */
export function parkOnTimer(step: Step, request: TimerRequest): AckRecord {
  const { attemptId, result, dueAt } = request;
  if (result === undefined && !step.run.routing) {
    requireKind(step, "wait");
    parkRunning(step, attemptId);
    return parkRun(step, { timerId: putTimer(step, request, "wait"), attemptId, dueAt });
  }
  const ended = endAttempt(step, attemptId, { result, again: true });
  if ("held" in ended) return hold(step, ended.held);
  requireRetry(step, runGraph(step.tx, step.run), ended.closed);
  const timerId = putTimer(step, request, "retry");
  const { status } = ended.closed;
  return parkRun(step, { timerId, attemptId, outcome: status, dueAt });
}

/** The attempt's end must wait for a person: the run is blocked instead of going on. */
export function hold(step: Step, effectId: string): AckRecord {
  blockOnEffect(step, effectId, "its attempt ended without its outcome");
  return { boundary: step.run.boundary, parked: true };
}

function parkRun(step: Step, data: Readonly<Record<string, unknown>>): AckRecord {
  const { run } = step;
  releaseClaim(step);
  const boundary = run.boundary + 1;
  changeRun(step, {
    event: "wait",
    change: {
      status: runLifecycle.next(run.status, "wait", run.pauseRequested ? "paused" : "waiting"),
      pauseRequested: false,
      boundary,
      routing: false,
      noProgress: 0,
    },
    data,
  });
  return { boundary, parked: true };
}

function parkRunning(step: Step, attemptId: string): void {
  const attempt = requireRunning(step, attemptId);
  const effect = applyingEffect(step);
  if (effect !== undefined) {
    const message = `attempt ${attemptId} cannot wait while effect ${effect.effectId} is applied`;
    throw new HostError("REQUEST_INVALID", message);
  }
  parkAttempt(step, attempt);
}

function putTimer(step: Step, request: TimerRequest, kind: "wait" | "retry"): string {
  const { tx, run, at } = step;
  const { attemptId, dueAt } = request;
  const timerId = newId("tim");
  const { runId } = run;
  tx.put.timer({ timerId, runId, attemptId, kind, status: "pending", dueAt, createdAt: at });
  return timerId;
}

/** A schema that nobody can read would make the interaction unanswerable. */
function storeSchema({ tx }: Step, json: string): ReturnType<typeof storeValue> {
  parseJson(json, "the schema of the answer");
  return storeValue(tx, json, "the schema of the answer");
}

function requireKind({ tx, run }: Step, kind: string): void {
  const node = nodeOf(runGraph(tx, run), run.node);
  if (node?.kind === kind) return;
  throw new HostError("REQUEST_INVALID", `node ${run.node} is no ${kind} node`);
}
