/** Proposed results of agent steps, as they are taken in and as their validation ends. */
import { newId } from "../../platform/ids.ts";
import { interactionLifecycle } from "../lifecycle/interaction.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import { PAGE_MAX, VALUE_BYTES_MAX } from "../limits.ts";
import type { ClaimProof } from "../records.ts";
import type { InteractionRecord, SubmissionRecord } from "../records-sessions.ts";
import { claimed, command, control } from "../store/doors.ts";
import type { CommandResult } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { Reader } from "../store/tx.ts";
import {
  closedInteraction,
  requireOpen,
  SameAnswer,
  settledReceipt,
  unknownInteraction,
  wrongKind,
} from "./answering.ts";
import { takeProposal } from "./boundary.ts";
import type { AckRecord, Proposal } from "./boundary.ts";
import { about, digestOfJson } from "./canonical.ts";
import type { AskedCommand } from "./canonical.ts";
import { requireOrigin } from "./origin.ts";
import { asOwner } from "./owner.ts";
import { isOverdue } from "./settle.ts";
import { changeRun, requireBytes, storeValue } from "./step.ts";
import type { Step } from "./step.ts";
import { rejectSubmission, requireValidating } from "./submission-rows.ts";

export interface SubmitRequest {
  readonly interactionId: string;
  /** The result as JSON text. */
  readonly valueJson: string;
  /** The caller's session, when it speaks for one. */
  readonly sessionId?: string;
}

/** What every receipt of a submission holds beside. */
export interface SubmissionReceipt {
  readonly submissionId: string;
}

/**
 * Takes in a proposed result and queues its run for the validation. Of a request
 * that is closed the accepted value again gets its receipt, another is refused.
 */
export async function submitResult(
  host: HostContext,
  asked: AskedCommand,
  { interactionId, valueJson, sessionId }: SubmitRequest,
): Promise<CommandResult<SubmissionReceipt>> {
  requireBytes(valueJson, VALUE_BYTES_MAX, "the result");
  const digest = digestOfJson(valueJson, "the result");
  const runId = host.store.reader.interactions.get(interactionId)?.runId;
  try {
    return await command<SubmissionReceipt>(host, about(asked, runId), (tx, run) => {
      const interaction = tx.interactions.get(interactionId);
      if (interaction === undefined || run === undefined) throw unknownInteraction(interactionId);
      if (interaction.kind !== "agent") throw wrongKind(interaction, "submitted to");
      requireOrigin(run, sessionId);
      const step = { tx, run, at: host.clock.now() };
      requireFirst(tx, interaction, digest);
      requireOpen(interaction, run, step.at);
      const { client } = asked.command;
      const value = storeValue(tx, valueJson, "the result");
      const named = sessionId === undefined ? {} : { sessionId };
      const submissionId = takeIn(step, interaction, { value, digest, client, ...named });
      return { extra: { submissionId } };
    });
  } catch (error) {
    // Only this operation's own receipt is thrown so.
    if (error instanceof SameAnswer) return error.receipt as CommandResult<SubmissionReceipt>;
    throw error;
  }
}

/** Refuses what comes after an accepted result, unless it is the same. */
function requireFirst(reader: Reader, interaction: InteractionRecord, digest: string): void {
  const accepted = reader.submissions.accepted(interaction.interactionId);
  if (accepted === undefined) return;
  if (accepted.digest !== digest) throw closedInteraction(interaction, interaction.status);
  const extra: SubmissionReceipt = { submissionId: accepted.submissionId };
  throw new SameAnswer({ ...settledReceipt(reader, interaction), extra });
}

type Proposed = Pick<SubmissionRecord, "value" | "digest" | "client" | "sessionId">;

function takeIn(step: Step, interaction: InteractionRecord, proposed: Proposed): string {
  const { tx, run, at } = step;
  const { interactionId, attemptId } = interaction;
  const submissionId = newId("sub");
  const { runId } = run;
  const status = interactionLifecycle.next(interaction.status, "submit");
  const ids = { submissionId, runId, interactionId, attemptId };
  tx.put.submission({ ...ids, status: "validating", receivedAt: at, ...proposed });
  tx.put.interactionChange(interactionId, { status });
  changeRun(step, {
    event: "validate",
    change: {
      status: runLifecycle.next(run.status, "validate"),
      activation: "validate",
      availableAt: at,
    },
    data: { interactionId, submissionId },
  });
  return submissionId;
}

export interface Refusal extends Proposal {
  /** The author's words. */
  readonly error: string;
}

/** The author's code refuses the result; the worker that validated it exits. */
export function refuseSubmission(
  host: HostContext,
  proof: ClaimProof,
  number: number,
  refusal: Refusal,
): Promise<AckRecord> {
  return claimed(host, "reject", { proof, number }, (tx, run) => {
    const step = { tx, run, at: host.clock.now() };
    takeProposal(step, refusal);
    const submission = requireValidating(step, refusal.attemptId);
    const after = rejectSubmission(step, submission, { reason: "refused", error: refusal.error });
    return { boundary: after.run.boundary, parked: true };
  });
}

/**
 * The validation came to no verdict: its worker took too long or cannot go on.
 * Committed before the worker is stopped. Refused as ILLEGAL_TRANSITION when
 * that worker validates nothing any more.
 */
export function failValidation(
  host: HostContext,
  { proof, error }: { readonly proof: ClaimProof; readonly error: string },
): Promise<void> {
  return asOwner(host, "reject", proof, (step) => {
    const submission = requireValidating(step);
    rejectSubmission(step, submission, { reason: "validation_failed", error });
  });
}

/**
 * After a start: what was being validated when the host ended and has missed its
 * deadline since is not validated again. Returns how many.
 */
export async function expireValidations(host: HostContext): Promise<number> {
  const { reader } = host.store;
  const now = host.clock.now();
  const late = reader.runs.queuedValidations(PAGE_MAX).filter(({ runId }) => {
    const interaction = reader.interactions.open(runId);
    return interaction !== undefined && isOverdue(interaction, now);
  });
  for (const { runId } of late) {
    await control(host, "reject", runId, (tx, run) => {
      const step = { tx, run, at: host.clock.now() };
      rejectSubmission(step, requireValidating(step), { reason: "expired", error: TOO_LATE });
    });
  }
  return late.length;
}

const TOO_LATE = "the deadline passed before the result was validated";
