import { HostError } from "../errors.ts";
import type { ClaimProof, EffectRecord } from "../records.ts";
import { claimed } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import { attach } from "./attach.ts";
import type { Attachment, BeginRecord } from "./attach.ts";
import { requireRunning } from "./attempt-rows.ts";
import { endAttempt, finishRun, takeNext, takeProposal } from "./boundary.ts";
import type { AckRecord, AttemptResult, NextStep, Proposal, RunEnd } from "./boundary.ts";
import { applyingEffect } from "./effect-rows.ts";
import type { EffectOutcome } from "./effect-rows.ts";
import { block, blockOnEffect, loseApplying, requeue } from "./interruption.ts";
import type { Block } from "./interruption.ts";
import { asOwner } from "./owner.ts";
import { hold, parkOnInteraction, parkOnTimer } from "./parking.ts";
import type { InteractionRequest, TimerRequest } from "./parking.ts";
import type { Step } from "./step.ts";
import { decide } from "./verdict.ts";
import type { Decision, VerdictRecord } from "./verdict.ts";

/** The worker of a launched run says that it has everything loaded. */
export function attachWorker(
  host: HostContext,
  proof: ClaimProof,
  number: number,
  attachment: Attachment,
): Promise<BeginRecord> {
  return claimed(host, "attach", { proof, number }, (tx, run) =>
    attach({ tx, run, at: host.clock.now() }, attachment),
  );
}

export interface Advance extends Proposal {
  /** Absent when the activation only routes. */
  readonly result?: AttemptResult;
  /** Absent when the result is `unknown`: then the host decides. */
  readonly follow?: NextStep | RunEnd;
}

/**
 * One boundary at once: the attempt's end, its effect, new sources, the edge and
 * the next attempt, or the run's end. A repeat of the same number gets the same
 * answer, also after the run is parked.
 */
export function advance(
  host: HostContext,
  proof: ClaimProof,
  number: number,
  proposal: Advance,
): Promise<AckRecord> {
  const { attemptId, result, follow } = proposal;
  const name = follow?.kind === "end" ? "finish" : "advance";
  return claimed(host, name, { proof, number }, (tx, run) => {
    const step = { tx, run, at: host.clock.now() };
    takeProposal(step, proposal);
    if (result?.outcome === "unknown") return takeUnknown(step, attemptId, result);
    if (follow === undefined) throw new HostError("REQUEST_INVALID", "nothing follows the attempt");
    const again = follow.kind === "next" && follow.retry;
    const ended = endAttempt(step, attemptId, { result, again });
    if ("held" in ended) return hold(step, ended.held);
    return follow.kind === "end"
      ? finishRun(step, ended.closed, follow)
      : takeNext(step, ended.closed, follow);
  });
}

/** The running attempt of a checkpoint waits for an answer; the worker exits. */
export function openInteraction(
  host: HostContext,
  proof: ClaimProof,
  number: number,
  request: InteractionRequest,
): Promise<AckRecord> {
  return claimed(host, "wait", { proof, number }, (tx, run) => {
    const step = { tx, run, at: host.clock.now() };
    takeProposal(step, request);
    return parkOnInteraction(step, request);
  });
}

/** The running attempt of a wait node, or the next try of a failed one, waits for a time. */
export function openTimer(
  host: HostContext,
  proof: ClaimProof,
  number: number,
  request: TimerRequest,
): Promise<AckRecord> {
  return claimed(host, "wait", { proof, number }, (tx, run) => {
    const step = { tx, run, at: host.clock.now() };
    takeProposal(step, request);
    return parkOnTimer(step, request);
  });
}

export interface Verdict extends Decision {
  readonly proof: ClaimProof;
}

/**
 * The host decides how the running attempt ended, before it kills the worker:
 * deadline passed in a blocked loop, exit, out of memory. The next activation
 * only routes. Refused when that attempt is not the running one any more.
 */
export function verdict(
  host: HostContext,
  { proof, ...decision }: Verdict,
): Promise<VerdictRecord> {
  return asOwner(host, "verdict", proof, (step) => decide(step, decision));
}

export interface BlockRequest extends Omit<Block, "data"> {
  readonly proof: ClaimProof;
}

/** The worker found that it must not go on, for example because a source file differs. */
export function blockRun(host: HostContext, { proof, ...request }: BlockRequest): Promise<void> {
  return asOwner(host, "block", proof, (step) => {
    const held = loseApplying(step, request.detail);
    if (held === undefined) block(step, request);
    else blockOnEffect(step, held, request.detail);
  });
}

/** Nobody knows what became of the attempt's effect: again if it is idempotent, else a person. */
function takeUnknown(
  step: Step,
  attemptId: string,
  { error, effect }: Exclude<AttemptResult, { outcome: "ok" }>,
): AckRecord {
  requireRunning(step, attemptId);
  const applying = applyingEffect(step);
  if (applying === undefined || (effect !== undefined && !isLost(applying, effect))) {
    const message = `attempt ${attemptId} has an unknown outcome, but not that of an open effect`;
    throw new HostError("REQUEST_INVALID", message);
  }
  const held = loseApplying(step, error.message);
  if (held === undefined) requeue(step, { reason: error.message, counted: true });
  else blockOnEffect(step, held, error.message);
  return { boundary: step.run.boundary, parked: true };
}

function isLost(applying: EffectRecord, outcome: EffectOutcome): boolean {
  return outcome.effectId === applying.effectId && outcome.kind === "unknown";
}
