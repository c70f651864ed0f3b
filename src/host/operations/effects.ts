import { HostError } from "../errors.ts";
import { effectLifecycle } from "../lifecycle/effect.ts";
import { newId } from "../../platform/ids.ts";
import type { AttemptRecord, ClaimProof, EffectPolicy, EffectRecord } from "../records.ts";
import { claimed, command } from "../store/doors.ts";
import type { CommandResult } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import { isCounted, requireRunning } from "./attempt-rows.ts";
import { requireBoundary } from "./boundary.ts";
import { about } from "./canonical.ts";
import type { AskedCommand } from "./canonical.ts";
import { applyingEffect } from "./effect-rows.ts";
import { block, blockOnEffect } from "./interruption.ts";
import { resolve } from "./resolve-effect.ts";
import type { Resolution } from "./resolve-effect.ts";
import { changeRun } from "./step.ts";
import type { Step } from "./step.ts";

export interface EffectRequest {
  readonly expectedBoundary: number;
  readonly attemptId: string;
  readonly key: string;
  /** SHA-256 of the request. */
  readonly fingerprint: string;
  readonly type: string;
  readonly policy: EffectPolicy;
  /** The author gave an `observe`, which decides after an unknown outcome. */
  readonly observable: boolean;
}

/** What a worker may do under an effect. */
export interface GrantRecord {
  readonly effectId: string;
  readonly kind: "apply" | "observe" | "stored" | "blocked";
  /** With `stored`: the receipt as JSON text. */
  readonly receiptJson?: string;
}

/**
 * Reserves an effect for the running attempt, before anything happens outside.
 * `blocked` means that the run was: with the same key for another request, or an
 * outcome that only a person can settle.
 */
export function beginEffect(
  host: HostContext,
  proof: ClaimProof,
  number: number,
  request: EffectRequest,
): Promise<GrantRecord> {
  return claimed(host, "effect_begin", { proof, number }, (tx, run) => {
    const step = { tx, run, at: host.clock.now() };
    requireBoundary(step, request.expectedBoundary);
    const attempt = requireRunning(step, request.attemptId);
    requireNoneApplying(step);
    const effect = tx.effects.byKey(request.key);
    if (effect === undefined) return apply(step, newEffect(step, attempt, request), request);
    requireSameVisit(effect, attempt);
    if (effect.fingerprint !== request.fingerprint) return conflict(step, effect);
    if (effect.status === "ambiguous") {
      blockOnEffect(step, effect.effectId, "it was asked for again");
      return { effectId: effect.effectId, kind: "blocked" };
    }
    return isStanding(step, effect) ? stored(step, effect) : apply(step, effect, request);
  });
}

export interface EffectProcess {
  readonly effectId: string;
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
}

/** Remembers the process that applies an effect, so that it can be ended with its worker. */
export function recordEffectProcess(
  host: HostContext,
  proof: ClaimProof,
  { effectId, ...process }: EffectProcess,
): Promise<void> {
  return claimed(host, "effect_process", { proof }, (tx, run) => {
    const effect = applyingEffect({ tx, run, at: host.clock.now() });
    const last = tx.effects.lastAttempt(effectId);
    if (effect?.effectId !== effectId || last === undefined) return;
    tx.put.effectAttemptChange(effectId, last.application, process);
  });
}

export interface ResolveRequest {
  readonly effectId: string;
  readonly resolution: Resolution;
  /** With `applied`: the output of the attempt; null by default. */
  readonly outputJson?: string;
}

/** A person says what became of an ambiguous effect. The last one queues its blocked run. */
export function resolveEffect(
  host: HostContext,
  asked: AskedCommand,
  { effectId, resolution, outputJson = "null" }: ResolveRequest,
): Promise<CommandResult> {
  const runId = host.store.reader.effects.get(effectId)?.runId;
  return command(host, about(asked, runId), (tx, run) => {
    const effect = tx.effects.get(effectId);
    if (effect === undefined || run === undefined) {
      throw new HostError("EFFECT_NOT_FOUND", `there is no effect ${effectId}`);
    }
    resolve({ tx, run, at: host.clock.now() }, effect, { resolution, outputJson });
    return {};
  });
}

function newEffect(step: Step, attempt: AttemptRecord, request: EffectRequest): EffectRecord {
  const { tx, run, at } = step;
  const { type, policy, key, fingerprint, observable } = request;
  const effect: EffectRecord = {
    effectId: newId("eff"),
    runId: run.runId,
    node: attempt.node,
    visit: attempt.visit,
    type,
    policy,
    key,
    fingerprint,
    status: "pending",
    observable,
    unknownBefore: false,
    createdAt: at,
    updatedAt: at,
  };
  tx.put.effect(effect);
  return effect;
}

/** The worker may act: a new application of the effect, by the running attempt. */
function apply(step: Step, effect: EffectRecord, request: EffectRequest): GrantRecord {
  const { tx, at } = step;
  const { effectId } = effect;
  const { attemptId, policy, observable } = request;
  const pending =
    effect.status === "pending" ? effect.status : effectLifecycle.next(effect.status, "reopen");
  tx.put.effectChange(effectId, {
    status: effectLifecycle.next(pending, "begin"),
    policy,
    observable,
    updatedAt: at,
  });
  const application = tx.effects.applications(effectId) + 1;
  tx.put.effectAttempt({ effectId, attemptId, application, beganAt: at });
  const kind = effect.unknownBefore && observable ? "observe" : "apply";
  changeRun(step, {
    event: "effect_begin",
    change: {},
    data: { effectId, type: effect.type, application, grant: kind },
  });
  return { effectId, kind };
}

/** True for an effect whose receipt still counts: no try has failed after it. */
function isStanding({ tx }: Step, { effectId, status }: EffectRecord): boolean {
  if (status !== "applied") return false;
  const last = tx.effects.lastAttempt(effectId);
  const attempt = last === undefined ? undefined : tx.attempts.get(last.attemptId);
  return attempt === undefined || !isCounted(attempt);
}

function stored({ tx }: Step, { effectId, receipt }: EffectRecord): GrantRecord {
  const receiptJson = receipt === undefined ? "null" : tx.values.read(receipt);
  return { effectId, kind: "stored", receiptJson };
}

function conflict(step: Step, { effectId }: EffectRecord): GrantRecord {
  block(step, {
    reason: "effect_conflict",
    detail: `effect ${effectId} was asked for with another request under the same key`,
    data: { effectId },
  });
  return { effectId, kind: "blocked" };
}

function requireNoneApplying(step: Step): void {
  const effect = applyingEffect(step);
  if (effect === undefined) return;
  const message = `effect ${effect.effectId} is being applied; an attempt applies one at a time`;
  throw new HostError("REQUEST_INVALID", message, { runId: step.run.runId });
}

function requireSameVisit(effect: EffectRecord, attempt: AttemptRecord): void {
  const { runId, node, visit } = attempt;
  if (effect.runId === runId && effect.node === node && effect.visit === visit) return;
  const message = `effect key ${effect.key} belongs to another visit`;
  throw new HostError("REQUEST_INVALID", message, { runId });
}
