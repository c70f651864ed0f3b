import { HostError } from "../errors.ts";
import { interactionLifecycle } from "../lifecycle/interaction.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { ActivationKind, TimerRecord, ValueRef } from "../records.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import { closeAttempt } from "./attempt-rows.ts";
import type { AttemptEnd } from "./attempt-rows.ts";
import { changeRun, storeValue } from "./step.ts";
import type { Step } from "./step.ts";

/** An answer as it is stored. */
export interface Answer {
  readonly value: ValueRef;
  readonly digest: string;
  readonly client: string;
}

/** The answer is the attempt's output; the next activation only routes. */
export function settleAnswered(step: Step, interaction: InteractionRecord, answer: Answer): void {
  const { tx, at } = step;
  tx.put.interactionChange(interaction.interactionId, {
    status: interactionLifecycle.next(interaction.status, "accept"),
    answer: answer.value,
    answerDigest: answer.digest,
    answeredBy: answer.client,
    closedAt: at,
  });
  closeOpen(step, { event: "succeed", output: answer.value });
  const { interactionId } = interaction;
  requeueSettled(step, { activation: "answered", routing: true, data: { interactionId } });
}

/** Nobody answered in time: the attempt timed out, which the graph may route. */
export function settleExpired(step: Step, interaction: InteractionRecord): void {
  const { tx, at } = step;
  const { interactionId } = interaction;
  tx.put.interactionChange(interactionId, {
    status: interactionLifecycle.next(interaction.status, "expire"),
    closedAt: at,
  });
  const message = `nobody answered ${interactionId} before its deadline`;
  closeOpen(step, { event: "time_out", error: { name: "DeadlineExpired", message } });
  requeueSettled(step, {
    activation: "expired",
    routing: true,
    data: { interactionId, expired: true },
  });
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
  if (interaction?.deadlineAt !== undefined && interaction.deadlineAt <= at) {
    settleExpired(step, interaction);
    return true;
  }
  const timer = tx.timers.open(run.runId);
  if (timer === undefined || timer.dueAt > at) return false;
  settleTimer(step, timer);
  return true;
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

function requeueSettled(step: Step, { activation, routing, data }: Settled): void {
  const { run, at } = step;
  changeRun(step, {
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
