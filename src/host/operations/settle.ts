import { HostError } from "../errors.ts";
import { interactionLifecycle } from "../lifecycle/interaction.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { ActivationKind, FailureRecord, Instant, TimerRecord, ValueRef } from "../records.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import { closeAttempt } from "./attempt-rows.ts";
import type { AttemptEnd } from "./attempt-rows.ts";
import { digestOfJson } from "./canonical.ts";
import { closeRequest } from "./session-messages.ts";
import { changeRun, storeValue } from "./step.ts";
import type { Step } from "./step.ts";

/** An answer as it is stored. */
export interface Answer {
  readonly value: ValueRef;
  readonly digest: string;
  readonly client: string;
}

/** The answer is the attempt's output; the next activation only routes. */
export function settleAnswered(step: Step, interaction: InteractionRecord, answer: Answer): Step {
  const { tx, at } = step;
  const { interactionId } = interaction;
  const { value, digest, client } = answer;
  closeRequest(step, interaction);
  tx.put.interactionChange(interactionId, {
    status: interactionLifecycle.next(interaction.status, "accept"),
    answer: value,
    answerDigest: digest,
    answeredBy: client,
    closedAt: at,
  });
  closeOpen(step, { event: "succeed", output: value });
  const data = { interactionId, answeredBy: client };
  return requeueSettled(step, { activation: "answered", routing: true, data });
}

/** Who answers a decision at its deadline when no person has. */
export const POLICY = "policy";

/** The deadline passed: the default answer applies, or nobody answered in time. */
export function settleOverdue(step: Step, interaction: InteractionRecord): Step {
  const { defaultAnswer } = interaction;
  if (defaultAnswer === undefined) return settleExpired(step, interaction);
  const value = storeValue(step.tx, defaultAnswer, "the default answer");
  const digest = digestOfJson(defaultAnswer, "the default answer");
  return settleAnswered(step, interaction, { value, digest, client: POLICY });
}

/** Nobody answered in time: the attempt timed out, which the graph may route. */
export function settleExpired(step: Step, interaction: InteractionRecord): Step {
  const { tx, at } = step;
  const { interactionId } = interaction;
  closeRequest(step, interaction, "the deadline of the step has passed");
  tx.put.interactionChange(interactionId, {
    status: interactionLifecycle.next(interaction.status, "expire"),
    closedAt: at,
  });
  const message = `nobody answered ${interactionId} before its deadline`;
  closeOpen(step, { event: "time_out", error: { name: "DeadlineExpired", message } });
  const data = { interactionId, expired: true };
  return requeueSettled(step, { activation: "expired", routing: true, data });
}

/**
 * The model cannot do what it is asked: the attempt failed, which the graph may
 * route by the error's name. The request is withdrawn.
 */
export function settleFailed(
  step: Step,
  interaction: InteractionRecord,
  error: FailureRecord,
): Step {
  const { tx, at } = step;
  const { interactionId } = interaction;
  closeRequest(step, interaction, `the step has failed: ${error.name}`);
  tx.put.interactionChange(interactionId, {
    status: interactionLifecycle.next(interaction.status, "cancel"),
    closedAt: at,
  });
  closeOpen(step, { event: "fail", error });
  const data = { interactionId, failed: error.name };
  return requeueSettled(step, { activation: "verdict", routing: true, data });
}

/** A wait is over, or the next try of a failed attempt is due. */
export function settleTimer(step: Step, timer: TimerRecord): void {
  const { tx, at } = step;
  const { timerId, kind, dueAt } = timer;
  tx.put.timerChange(timerId, { status: "fired", closedAt: at });
  if (kind === "retry") {
    requeueSettled(step, { activation: "continue", routing: false, data: { timerId, kind } });
    return;
  }
  const times = { dueAt: new Date(dueAt).toISOString(), firedAt: new Date(at).toISOString() };
  const output = storeValue(tx, JSON.stringify(times), "the output");
  closeOpen(step, { event: "succeed", output });
  requeueSettled(step, { activation: "expired", routing: true, data: { timerId, kind } });
}

/** Settles what a waiting run waits for if it is due by now. Returns whether it was. */
export function settleIfDue(step: Step): boolean {
  const { tx, run, at } = step;
  const interaction = tx.interactions.open(run.runId);
  if (interaction !== undefined && isOverdue(interaction, at)) {
    settleOverdue(step, interaction);
    return true;
  }
  const timer = tx.timers.open(run.runId);
  if (timer === undefined || timer.dueAt > at) return false;
  settleTimer(step, timer);
  return true;
}

export function isOverdue({ deadlineAt }: InteractionRecord, at: Instant): boolean {
  return deadlineAt !== undefined && deadlineAt <= at;
}

/** Without the attempt that waits, nobody can say what an answer or a time means. */
function closeOpen(step: Step, end: AttemptEnd): void {
  const { runId, status } = step.run;
  const attempt = step.tx.attempts.open(runId);
  if (attempt === undefined) {
    const message = `run ${runId} has no attempt that waits; see the diagnosis`;
    throw new HostError("ILLEGAL_TRANSITION", message, { runId, state: status });
  }
  closeAttempt(step, attempt, end);
}

interface Settled {
  readonly activation: ActivationKind;
  readonly routing: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

function requeueSettled(step: Step, { activation, routing, data }: Settled): Step {
  const { run, at } = step;
  return changeRun(step, {
    event: "settle",
    change: {
      status: runLifecycle.next(run.status, "settle"),
      boundary: run.boundary + 1,
      routing,
      activation,
      availableAt: at,
    },
    data,
  });
}
