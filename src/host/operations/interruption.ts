import { INTERRUPT_BACKOFF_MS, NO_PROGRESS_MAX, OUTPUT_TAIL_BYTES } from "../limits.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { BlockReason } from "../lifecycle/run.ts";
import { lastBytes } from "./last-bytes.ts";
import { interruptAttempt, parkAttempt } from "./attempt-rows.ts";
import { applyingEffect, isManual, loseEffect } from "./effect-rows.ts";
import { closeRequest } from "./session-messages.ts";
import { changeRun, releaseClaim } from "./step.ts";
import type { Step } from "./step.ts";
import { dropSubmission, rejectSubmission } from "./submission-rows.ts";

export interface Interruption {
  /** Why the worker is gone, in words. */
  readonly reason: string;
  /** False for a loss that is not the worker's own: host loss, stop. */
  readonly counted: boolean;
  /** End of the worker's captured output. */
  readonly outputTail?: string;
}

/** `rejected`: it was validating a submission, whose request is open again. */
export type InterruptOutcome = "interrupted" | "paused" | "blocked" | "rejected";

export interface Block {
  readonly reason: BlockReason;
  /** In words, for a person. */
  readonly detail: string;
  readonly changedFiles?: readonly string[];
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * The worker is gone and nobody knows how its attempt ended: decides from the
 * rows what becomes of the run. A manual effect that was being applied needs a
 * person; three losses in a row without progress do too; otherwise the run is
 * queued again, or paused if somebody asked for that. A worker that died on a
 * submission has rejected it; one whose host is gone validates it again.
 */
export function interrupt(step: Step, lost: Interruption): InterruptOutcome {
  const submission = step.tx.submissions.validating(step.run.runId);
  if (submission !== undefined && lost.counted) {
    const error = `its validation ended without a verdict (${lost.reason}); submit the result again`;
    rejectSubmission(step, submission, { reason: "validation_failed", error });
    return "rejected";
  }
  const held = loseApplying(step, lost.reason);
  if (held !== undefined) {
    blockOnEffect(step, held, lost.reason);
    return "blocked";
  }
  return requeue(step, lost);
}

/** Sends the run back to the queue, counting the loss when it was the worker's own. */
export function requeue(step: Step, lost: Interruption): InterruptOutcome {
  const { run } = step;
  const noProgress = run.noProgress + (lost.counted ? 1 : 0);
  if (lost.counted && noProgress >= NO_PROGRESS_MAX && !run.pauseRequested) {
    blockWithoutProgress({ ...step, run: { ...run, noProgress } }, lost);
    return "blocked";
  }
  const attempt = interruptAttempt(step, lost.reason);
  releaseClaim(step);
  const to = run.pauseRequested ? "paused" : "queued";
  changeRun(step, {
    event: "interrupt",
    change: {
      status: runLifecycle.next(run.status, "interrupt", to),
      pauseRequested: false,
      noProgress,
      availableAt: step.at + backoffMs(lost.counted ? noProgress : 0),
      ...(attempt === undefined ? {} : { activation: "continue" as const }),
    },
    data: { reason: lost.reason, counted: lost.counted, generation: run.generation },
  });
  return to === "paused" ? "paused" : "interrupted";
}

/**
 * Stops the run until a person acts. An attempt that a person must end stays
 * waiting, and so does an open request, which is not shown meanwhile.
 */
export function block(step: Step, { reason, detail, changedFiles, data }: Block): void {
  const { tx, run } = step;
  const error = `the run was blocked: ${detail}`;
  const dropped = dropSubmission(step, { reason: "interrupted", error });
  const interaction = tx.interactions.open(run.runId);
  if (interaction !== undefined) closeRequest(step, interaction, "the run was blocked");
  const attempt = interruptAttempt(step, detail);
  releaseClaim(step);
  changeRun(step, {
    event: "block",
    change: {
      status: runLifecycle.next(run.status, "block"),
      pauseRequested: false,
      blockReason: reason,
      detail,
      changedFiles,
      noProgress: run.noProgress,
      ...((attempt ?? dropped) === undefined ? {} : { activation: "continue" as const }),
    },
    data: { reason, ...data },
  });
}

/** Blocks on an effect that only a person can settle; its attempt waits for that. */
export function blockOnEffect(step: Step, effectId: string, cause: string): void {
  const attempt = step.tx.attempts.open(step.run.runId);
  if (attempt?.status === "running") parkAttempt(step, attempt);
  block(step, {
    reason: "effect_ambiguous",
    detail: `nobody knows whether effect ${effectId} happened (${cause}); resolve it first`,
    data: { effectId },
  });
}

/**
 * Takes the effect that was being applied, if any, as lost. Returns its id when
 * it needs a person.
 */
export function loseApplying(step: Step, cause: string): string | undefined {
  const effect = applyingEffect(step);
  if (effect === undefined) return undefined;
  loseEffect(step, effect, { again: true, detail: cause });
  return isManual(effect) ? effect.effectId : undefined;
}

function blockWithoutProgress(step: Step, { reason, outputTail = "" }: Interruption): void {
  const tail = lastBytes(outputTail, OUTPUT_TAIL_BYTES);
  const lines = tail === "" ? "" : `\n${tail}`;
  block(step, {
    reason: "no_progress",
    detail: `${step.run.noProgress} workers died in a row without progress: ${reason}${lines}`,
    data: { cause: reason },
  });
}

function backoffMs(losses: number): number {
  return INTERRUPT_BACKOFF_MS[Math.min(losses, INTERRUPT_BACKOFF_MS.length) - 1] ?? 0;
}
