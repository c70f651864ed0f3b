import { HostError } from "../errors.ts";
import { effectLifecycle } from "../lifecycle/effect.ts";
import type { AttemptRecord, EffectRecord } from "../records.ts";
import type { Reader } from "../store/tx.ts";
import { storeValue } from "./step.ts";
import type { Step } from "./step.ts";

/** What became of an effect, as its worker saw it. */
export interface EffectOutcome {
  readonly effectId: string;
  readonly kind: "applied" | "rejected" | "unknown";
  /** With `applied`: the receipt as JSON text. */
  readonly receiptJson?: string;
  /** Otherwise: why. */
  readonly detail?: string;
}

/** The outcome is known: it happened. */
export function applyEffect(step: Step, effect: EffectRecord, receiptJson: string): void {
  endApplication(step, effect, "applied");
  step.tx.put.effectChange(effect.effectId, {
    status: effectLifecycle.next(effect.status, "apply"),
    receipt: storeValue(step.tx, receiptJson, "the receipt"),
    detail: undefined,
    unknownBefore: false,
    updatedAt: step.at,
  });
}

/** The outcome is known: the author's code said that it did not happen. */
export function rejectEffect(step: Step, effect: EffectRecord, detail: string): void {
  endApplication(step, effect, "rejected");
  step.tx.put.effectChange(effect.effectId, {
    status: effectLifecycle.next(effect.status, "reject"),
    detail,
    unknownBefore: false,
    updatedAt: step.at,
  });
}

/**
 * Nobody knows the outcome. An idempotent effect that will be tried `again` is
 * pending under the same key; every other is ambiguous, and only a person can
 * say what became of it.
 */
export function loseEffect(
  step: Step,
  effect: EffectRecord,
  { again, detail }: { readonly again: boolean; readonly detail: string },
): void {
  const to = again && effect.policy === "idempotent" ? "pending" : "ambiguous";
  if (effect.status === "applying") endApplication(step, effect, "unknown");
  step.tx.put.effectChange(effect.effectId, {
    status: effectLifecycle.next(effect.status, "lose", to),
    detail,
    unknownBefore: true,
    updatedAt: step.at,
  });
}

/**
 * The node is left or the run ends: what was never begun is cancelled, what was
 * and has an unknown outcome stays for a person to look at.
 */
export function abandonEffects(step: Step, effects: readonly EffectRecord[], detail: string): void {
  for (const effect of effects) {
    if (effect.status === "applying" || effect.unknownBefore) {
      loseEffect(step, effect, { again: false, detail });
      continue;
    }
    step.tx.put.effectChange(effect.effectId, {
      status: effectLifecycle.next(effect.status, "cancel"),
      updatedAt: step.at,
    });
  }
}

/** Effects of a run that are neither settled nor ambiguous. */
export function openEffects(reader: Reader, runId: string): readonly EffectRecord[] {
  return reader.effects.unsettled(runId).filter((effect) => effect.status !== "ambiguous");
}

/** The effect that the run's worker may be acting under right now; there is at most one. */
export function applyingEffect({ tx, run }: Step): EffectRecord | undefined {
  return tx.effects.unsettled(run.runId).find((effect) => effect.status === "applying");
}

/**
 * Ambiguous effects that hold their run: the manual ones. An idempotent one is
 * ambiguous only after the run has taken its route.
 */
export function holdingEffects(reader: Reader, runId: string): readonly EffectRecord[] {
  return reader.effects
    .unsettled(runId)
    .filter((effect) => effect.status === "ambiguous" && effect.policy === "manual");
}

/**
 * Takes in what a result says of the attempt's effect. `again` tells whether the
 * attempt is followed by another try. Returns the id of an effect that a person
 * must settle before the attempt can end.
 */
export function settleEffect(
  step: Step,
  outcome: EffectOutcome | undefined,
  context: SettleContext,
): string | undefined {
  const applying = applyingEffect(step);
  if (isRepeat(step, outcome, context.attempt)) return undefined;
  if (outcome !== undefined && outcome.effectId !== applying?.effectId) {
    throw new HostError("REQUEST_INVALID", `effect ${outcome.effectId} is not being applied`);
  }
  if (applying === undefined) return undefined;
  const known = outcome ?? { effectId: applying.effectId, kind: "unknown" };
  return takeOutcome(step, applying, known, context);
}

function takeOutcome(
  step: Step,
  effect: EffectRecord,
  { kind, receiptJson = "null", detail = "" }: EffectOutcome,
  { ok, again }: SettleContext,
): string | undefined {
  if (kind === "applied") {
    applyEffect(step, effect, receiptJson);
    return undefined;
  }
  if (ok) {
    const message = `an attempt that is ok must say that its effect was applied, not ${kind}`;
    throw new HostError("REQUEST_INVALID", message);
  }
  if (kind === "rejected") {
    rejectEffect(step, effect, detail);
    return undefined;
  }
  loseEffect(step, effect, { again, detail });
  return isManual(effect) ? effect.effectId : undefined;
}

export interface SettleContext {
  readonly attempt: AttemptRecord;
  /** The attempt ends with an output. */
  readonly ok: boolean;
  /** Another try of the same visit follows. */
  readonly again: boolean;
}

export function isManual(effect: EffectRecord): boolean {
  return effect.policy === "manual";
}

/** An attempt that was granted the stored receipt names an effect that is applied already. */
function isRepeat(
  { tx }: Step,
  outcome: EffectOutcome | undefined,
  attempt: AttemptRecord,
): boolean {
  if (outcome?.kind !== "applied") return false;
  const effect = tx.effects.get(outcome.effectId);
  return (
    effect?.status === "applied" && effect.runId === attempt.runId && effect.node === attempt.node
  );
}

function endApplication(
  { tx, at }: Step,
  effect: EffectRecord,
  outcome: "applied" | "rejected" | "unknown",
): void {
  const last = tx.effects.lastAttempt(effect.effectId);
  if (last === undefined) return;
  // A lost application's process may live on: it ends with its worker's tree (recordWorkerExit).
  const ended = outcome !== "unknown" || last.pid === undefined;
  tx.put.effectAttemptChange(effect.effectId, last.application, {
    outcome,
    ...(ended ? { endedAt: at } : {}),
  });
}
