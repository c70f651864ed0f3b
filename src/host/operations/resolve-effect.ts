import { HostError } from "../errors.ts";
import { effectLifecycle } from "../lifecycle/effect.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { AttemptRecord, EffectRecord, RunRecord } from "../records.ts";
import type { Change, Reader } from "../store/tx.ts";
import { closeAttempt } from "./attempt-rows.ts";
import { holdingEffects } from "./effect-rows.ts";
import { changeRun, storeValue } from "./step.ts";
import type { Step } from "./step.ts";

/** What a person says: it happened, it did not, or do it again. */
export type Resolution = "applied" | "not_applied" | "retry";

export interface Resolved {
  readonly resolution: Resolution;
  /** With `applied`: the attempt's output. */
  readonly outputJson: string;
}

/**
 * See resolveEffect. The attempt that waits for the effect ends as the person
 * says; one that has ended already stays as it is, and a terminal run too.
 */
export function resolve(step: Step, effect: EffectRecord, resolved: Resolved): void {
  const { tx, run } = step;
  requireAmbiguous(run, effect);
  if (resolved.resolution !== "applied") requireGone(step, effect);
  const attempt = waitingFor(step, effect);
  const change = WAYS[resolved.resolution](step, { effect, attempt, resolved });
  const goesOn =
    run.status === "blocked" &&
    run.blockReason === "effect_ambiguous" &&
    holdingEffects(tx, run.runId).length === 0;
  changeRun(step, {
    event: "resolve",
    change: { ...(attempt === undefined ? {} : change), ...(goesOn ? queued(step) : {}) },
    node: effect.node,
    data: { effectId: effect.effectId, resolution: resolved.resolution },
  });
}

interface Way {
  readonly effect: EffectRecord;
  /** The attempt that waits for it, if one does. */
  readonly attempt: AttemptRecord | undefined;
  readonly resolved: Resolved;
}

const ROUTE = { routing: true, activation: "verdict" } as const;

/** Each changes effect and attempt, and tells what the run's next activation does. */
const WAYS: Readonly<Record<Resolution, (step: Step, way: Way) => Change<RunRecord>>> = {
  applied(step, { effect, attempt, resolved }) {
    const output = storeValue(step.tx, resolved.outputJson, "the output");
    changeEffect(step, effect, {
      status: effectLifecycle.next(effect.status, "resolve_applied"),
      receipt: output,
      detail: undefined,
    });
    if (attempt !== undefined) closeAttempt(step, attempt, { event: "succeed", output });
    return ROUTE;
  },
  not_applied(step, { effect, attempt }) {
    const message = `a person said that effect ${effect.effectId} did not happen`;
    changeEffect(step, effect, {
      status: effectLifecycle.next(effect.status, "resolve_not_applied"),
      detail: message,
    });
    const error = { name: "EffectNotApplied", message };
    if (attempt !== undefined) closeAttempt(step, attempt, { event: "fail", error });
    return ROUTE;
  },
  retry(step, { effect, attempt }) {
    if (attempt === undefined) throw tooLate(step.run, effect);
    changeEffect(step, effect, {
      status: effectLifecycle.next(effect.status, "reopen"),
      detail: undefined,
    });
    const message = `a person asked to apply effect ${effect.effectId} again`;
    const error = { name: "Interrupted", message };
    closeAttempt(step, attempt, { event: "interrupt", error });
    return { routing: false, activation: "continue" };
  },
};

function changeEffect({ tx, at }: Step, effect: EffectRecord, change: Change<EffectRecord>): void {
  tx.put.effectChange(effect.effectId, { ...change, unknownBefore: false, updatedAt: at });
}

function queued({ run, at }: Step): Change<RunRecord> {
  return {
    status: runLifecycle.next(run.status, "resolve"),
    blockReason: undefined,
    detail: undefined,
    availableAt: Math.max(at, run.availableAt),
  };
}

function waitingFor({ tx, run }: Step, effect: EffectRecord): AttemptRecord | undefined {
  const attempt = tx.attempts.open(run.runId);
  if (attempt?.status !== "waiting") return undefined;
  const last = tx.effects.lastAttempt(effect.effectId);
  return last?.attemptId === attempt.attemptId ? attempt : undefined;
}

function requireAmbiguous({ runId, status }: RunRecord, effect: EffectRecord): void {
  if (effect.status === "ambiguous") return;
  const message = `effect ${effect.effectId} is ${effect.status}, so there is nothing to resolve`;
  throw new HostError("ILLEGAL_TRANSITION", message, { runId, state: status });
}

/**
 * Whether processes of a run that nobody executes any more may still be alive. Until
 * they are confirmed gone an effect of theirs may yet happen: that it has happened
 * stays true, that it has not may not.
 */
export function isBeingEnded(reader: Reader, runId: string): boolean {
  if (reader.claims.open(runId) !== undefined) return false;
  return reader.workers.ofRun(runId).some((worker) => worker.endedAt === undefined);
}

function requireGone({ tx, run }: Step, { effectId }: EffectRecord): void {
  const { runId, status } = run;
  if (!isBeingEnded(tx, runId)) return;
  const message = `what applied effect ${effectId} is still being ended; look again in a moment, then say what became of it`;
  throw new HostError("ILLEGAL_TRANSITION", message, { runId, state: status });
}

function tooLate({ runId, status }: RunRecord, { effectId }: EffectRecord): HostError {
  const message = `no attempt waits for effect ${effectId}; say whether it was applied or not`;
  return new HostError("ILLEGAL_TRANSITION", message, { runId, state: status });
}
