/** What becomes of a proposed result: accepted with the boundary, or sent back. */
import { HostError } from "../errors.ts";
import { interactionLifecycle } from "../lifecycle/interaction.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import { submissionLifecycle } from "../lifecycle/submission.ts";
import { FAILURE_TEXT_CHARS_MAX } from "../limits.ts";
import type { AttemptRecord, ValueRef } from "../records.ts";
import type { InteractionRecord, RejectionCause, SubmissionRecord } from "../records-sessions.ts";
import { unknownInteraction } from "./answering.ts";
import { remind } from "./reminding.ts";
import { closeRequest } from "./session-messages.ts";
import { isOverdue, settleOverdue } from "./settle.ts";
import { changeRun, releaseClaim } from "./step.ts";
import type { Step } from "./step.ts";

/** Accepts the result with the boundary that its value leads to: `output` is what the node puts out. */
export function acceptSubmission(step: Step, submission: SubmissionRecord, output: ValueRef): void {
  const { tx, at } = step;
  const { submissionId, interactionId, digest, client } = submission;
  const interaction = tx.interactions.get(interactionId);
  if (interaction === undefined) throw unknownInteraction(interactionId);
  closeRequest(step, interaction);
  tx.put.submissionChange(submissionId, {
    status: submissionLifecycle.next(submission.status, "accept"),
    closedAt: at,
  });
  tx.put.interactionChange(interactionId, {
    status: interactionLifecycle.next(interaction.status, "accept"),
    answer: output,
    answerDigest: digest,
    answeredBy: client,
    closedAt: at,
  });
}

export interface Rejection {
  readonly reason: RejectionCause;
  /** In words, for whoever submitted. */
  readonly error: string;
}

/**
 * The result is not accepted: the request is open again and its run waits. When
 * its deadline has passed meanwhile that is settled at once; when no turn works
 * on it any more, the model is reminded.
 */
export function rejectSubmission(
  step: Step,
  submission: SubmissionRecord,
  rejection: Rejection,
): Step {
  const { run, at } = step;
  const { submissionId, interactionId } = submission;
  const interaction = sendBack(step, submission, rejection);
  releaseClaim(step);
  const waiting = changeRun(step, {
    event: "reject",
    change: {
      status: runLifecycle.next(run.status, "reject"),
      activation: "continue",
      availableAt: at,
    },
    data: { interactionId, submissionId, reason: rejection.reason },
  });
  if (isOverdue(interaction, at)) return settleOverdue(waiting, interaction);
  return isLeft(waiting, interaction) ? remind(waiting, interaction) : waiting;
}

/** Closes what is being validated, if anything is; the run's own change is the caller's. */
export function dropSubmission(step: Step, rejection: Rejection): SubmissionRecord | undefined {
  const submission = step.tx.submissions.validating(step.run.runId);
  if (submission !== undefined) sendBack(step, submission, rejection);
  return submission;
}

function sendBack(
  { tx, at }: Step,
  { submissionId, interactionId, status }: SubmissionRecord,
  { reason, error }: Rejection,
): InteractionRecord {
  const interaction = tx.interactions.get(interactionId);
  if (interaction === undefined) throw unknownInteraction(interactionId);
  const lastError = error.slice(0, FAILURE_TEXT_CHARS_MAX);
  tx.put.submissionChange(submissionId, {
    status: submissionLifecycle.next(status, "reject"),
    reason,
    error: lastError,
    closedAt: at,
  });
  const pending = interactionLifecycle.next(interaction.status, "reject");
  tx.put.interactionChange(interactionId, { status: pending, lastError });
  return { ...interaction, status: pending, lastError };
}

/** True when the request was shown, its turn is over, and nothing of it is on its way. */
function isLeft({ tx, run }: Step, { interactionId }: InteractionRecord): boolean {
  const newest = tx.messages.newestOfInteraction(interactionId);
  // The run moved to another session while the result was validated.
  if (newest !== undefined && newest.sessionId !== run.originSession) return true;
  if (newest === undefined || newest.status === "pending" || newest.status === "offered") {
    return false;
  }
  // Without a turn it has only just been seen: its turn is about to open.
  const turn = tx.turns.get(newest.messageId);
  return turn === undefined ? newest.status !== "delivered" : turn.status !== "open";
}

/** What the run's worker validates; refuses when it validates nothing, or for another attempt. */
export function requireValidating({ tx, run }: Step, attemptId?: string): SubmissionRecord {
  const { runId, status } = run;
  const submission = tx.submissions.validating(runId);
  if (submission !== undefined && (attemptId ?? submission.attemptId) === submission.attemptId) {
    return submission;
  }
  const of = attemptId === undefined ? "" : ` of attempt ${attemptId}`;
  const message = `no submission${of} of run ${runId} is being validated`;
  throw new HostError("ILLEGAL_TRANSITION", message, { runId, state: status });
}

export interface ValidatedAttempt {
  readonly attempt: AttemptRecord;
  readonly submission: SubmissionRecord;
}

/** The waiting attempt whose result is being validated; absent while none is. */
export function validatedAttempt(
  { tx, run }: Step,
  attemptId: string,
): ValidatedAttempt | undefined {
  // Of every boundary this is asked, and the run's own row knows it of most.
  if (run.activation !== "validate") return undefined;
  const submission = tx.submissions.validating(run.runId);
  const attempt = tx.attempts.open(run.runId);
  if (submission === undefined || attempt?.attemptId !== attemptId) return undefined;
  return { attempt, submission };
}
