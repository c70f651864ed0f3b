import { HostError } from "../errors.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import { newId } from "../../platform/ids.ts";
import type { Instant, ValueRef } from "../records.ts";
import type {
  InteractionContract,
  InteractionKind,
  InteractionRecord,
} from "../records-sessions.ts";
import { parkAttempt, requireRunning } from "./attempt-rows.ts";
import { endAttempt, requireRetry } from "./boundary.ts";
import type { AckRecord, AttemptResult, Proposal } from "./boundary.ts";
import { parseJson } from "./canonical.ts";
import { deadlineOf, requireContract } from "./contract.ts";
import { applyingEffect } from "./effect-rows.ts";
import { nodeOf, runGraph } from "./graph.ts";
import { blockOnEffect } from "./interruption.ts";
import { askInSession } from "./session-messages.ts";
import { changeRun, releaseClaim, storeValue } from "./step.ts";
import type { Step } from "./step.ts";

export interface InteractionRequest extends Proposal, InteractionContract {
  readonly kind: InteractionKind;
  /** One line that says what is asked. */
  readonly summary: string;
  readonly requestJson?: string;
  /** JSON Schema of the answer; without one anything goes. */
  readonly schemaJson?: string;
  readonly timeoutMs?: number;
  /** With `human_decision`: what a policy answers when no person does. */
  readonly onTimeout?: DecisionDefault;
}

export interface DecisionDefault {
  /** From the request on. */
  readonly afterMs: number;
  /** The answer as JSON text. */
  readonly responseJson: string;
}

export interface TimerRequest extends Proposal {
  readonly dueAt: Instant;
  /** With a back-off: how the attempt ended. Absent for a wait node, and when only routing. */
  readonly result?: AttemptResult;
}

/** Nodes that may open a request of each kind. */
const ASKED_BY: Readonly<Record<InteractionKind, readonly string[]>> = {
  agent: ["agent", "decision"],
  reply: ["agent"],
  checkpoint: ["checkpoint"],
  human_decision: ["human_decision"],
};

/** Parks the run until somebody answers, or the deadline passes; its session is asked. */
export function parkOnInteraction(step: Step, request: InteractionRequest): AckRecord {
  const { tx, run, at } = step;
  const { attemptId, kind, summary, requestJson, schemaJson } = request;
  requireKind(step, ASKED_BY[kind]);
  const contract = requireContract(request, run.runId);
  parkRunning(step, attemptId);
  const interactionId = newId("int");
  const interaction: InteractionRecord = {
    interactionId,
    runId: run.runId,
    attemptId,
    node: run.node,
    visit: run.visit,
    kind,
    status: "pending",
    summary,
    reminders: 0,
    modelErrors: 0,
    lostTurns: 0,
    createdAt: at,
    ...(requestJson === undefined ? {} : { request: storeJson(tx, requestJson, "the request") }),
    // A schema that nobody can read would make the request unanswerable.
    ...(schemaJson === undefined
      ? {}
      : { schema: storeJson(tx, schemaJson, "the schema of the answer") }),
    ...(contract === undefined
      ? {}
      : { contract: storeValue(tx, JSON.stringify(contract), "the contract of the request") }),
    ...deadlineOf(request, at),
  };
  tx.put.interaction(interaction);
  // A run that lands in `paused` asks when it is resumed.
  if (!run.pauseRequested) askInSession(step, interaction, { reason: "first" });
  return parkRun(step, { interactionId, attemptId, kind });
}

/** Parks the run until a time: that of a wait node, or of the next try of a failed attempt. */
export function parkOnTimer(step: Step, request: TimerRequest): AckRecord {
  const { attemptId, result, dueAt } = request;
  if (result === undefined && !step.run.routing) {
    requireKind(step, ["wait"]);
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

function storeJson(tx: Step["tx"], json: string, what: string): ValueRef {
  parseJson(json, what);
  return storeValue(tx, json, what);
}

function requireKind({ tx, run }: Step, kinds: readonly string[]): void {
  const node = nodeOf(runGraph(tx, run), run.node);
  if (node !== undefined && kinds.includes(node.kind)) return;
  throw new HostError("REQUEST_INVALID", `node ${run.node} is no ${kinds.join(" or ")} node`);
}
