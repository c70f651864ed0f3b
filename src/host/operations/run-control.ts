import { interactionLifecycle } from "../lifecycle/interaction.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import { closeAttempt, interruptAttempt, parkAttempt } from "./attempt-rows.ts";
import { abandonEffects, applyingEffect, openEffects } from "./effect-rows.ts";
import { loseApplying } from "./interruption.ts";
import { announceEnd, closeRequest } from "./session-messages.ts";
import { changeRun, releaseClaim } from "./step.ts";
import type { Step } from "./step.ts";
import { dropSubmission } from "./submission-rows.ts";

const PAUSED = "the run was paused";
const PAUSED_WHILE_VALIDATING = `${PAUSED} before the result was validated; submit it again later`;
const CANCELLED = "the run was cancelled";

/** See pauseRun. */
export function pause(step: Step, now: boolean): void {
  const { run } = step;
  const effect = applyingEffect(step);
  if (effect !== undefined && !now) {
    notePause(step, effect.effectId);
    return;
  }
  const status = runLifecycle.next(run.status, "pause", "paused");
  const held = loseApplying(step, PAUSED);
  const open = step.tx.attempts.open(run.runId);
  if (held !== undefined && open !== undefined) parkAttempt(step, open);
  const interrupted = interruptAttempt(step, PAUSED);
  const dropped = dropSubmission(step, { reason: "interrupted", error: PAUSED_WHILE_VALIDATING });
  hideRequest(step, PAUSED);
  releaseClaim(step);
  changeRun(step, {
    event: "pause",
    change: {
      status,
      pauseRequested: false,
      ...((interrupted ?? dropped) === undefined ? {} : { activation: "continue" as const }),
    },
    data: { now, from: run.status, ...(held === undefined ? {} : { effectId: held }) },
  });
}

/** The status stays; the next boundary lands in `paused`. Asking again changes nothing. */
function notePause(step: Step, effectId: string): void {
  const { run } = step;
  if (run.pauseRequested) return;
  changeRun(step, {
    event: "pause_requested",
    change: { status: runLifecycle.next(run.status, "pause", "running"), pauseRequested: true },
    data: { effectId },
  });
}

/** See cancelRun. Everything below the run is closed first: a terminal run leaves nothing open. */
export function cancel(step: Step, note: string): void {
  const { tx, run, at } = step;
  const status = runLifecycle.next(run.status, "cancel");
  abandonEffects(step, openEffects(tx, run.runId), CANCELLED);
  dropSubmission(step, { reason: "cancelled", error: CANCELLED });
  hideRequest(step, CANCELLED);
  closeWaits(step);
  const attempt = tx.attempts.open(run.runId);
  if (attempt !== undefined) closeAttempt(step, attempt, { event: "cancel" });
  releaseClaim(step);
  const ended = changeRun(step, {
    event: "cancel",
    change: {
      status,
      pauseRequested: false,
      blockReason: undefined,
      changedFiles: undefined,
      detail: note === "" ? undefined : note,
      finishedAt: at,
    },
    data: { from: run.status, ...(note === "" ? {} : { note }) },
  });
  announceEnd(ended);
}

/** What is open is not to be shown, and a model that works on it is asked to stop. */
function hideRequest(step: Step, why: string): void {
  const interaction = step.tx.interactions.open(step.run.runId);
  if (interaction !== undefined) closeRequest(step, interaction, why);
}

function closeWaits({ tx, run, at }: Step): void {
  const interaction = tx.interactions.open(run.runId);
  if (interaction !== undefined) {
    const status = interactionLifecycle.next(interaction.status, "cancel");
    tx.put.interactionChange(interaction.interactionId, { status, closedAt: at });
  }
  const timer = tx.timers.open(run.runId);
  if (timer !== undefined) {
    tx.put.timerChange(timer.timerId, { status: "cancelled", closedAt: at });
  }
}
