/** How an attempt ended and what follows, as a worker proposes it. */
import { AttemptOutcome, EffectOutcomeKind } from "../../gen/piworkflows/worker/v1/endings_pb.ts";
import type {
  AttemptResult as AttemptResultMessage,
  EffectOutcome as EffectOutcomeMessage,
} from "../../gen/piworkflows/worker/v1/endings_pb.ts";
import type {
  Advance,
  NextStep as NextStepMessage,
  RunEnd as RunEndMessage,
} from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type {
  AttemptResult,
  NextStep,
  NotificationRecord,
  RunEnd,
} from "../operations/boundary.ts";
import type { EffectOutcome } from "../operations/effect-rows.ts";
import { MalformedFrame, failureRecord, jsonText, nameText, optionalMs } from "./worker-convert.ts";

export function attemptResult(result: AttemptResultMessage): AttemptResult {
  const effect = result.effect === undefined ? {} : { effect: effectOutcome(result.effect) };
  switch (result.outcome) {
    case AttemptOutcome.OK:
      return {
        outcome: "ok",
        outputJson: jsonText("the output", result.outputJson),
        ...effect,
        ...notificationOf(result),
      };
    case AttemptOutcome.FAILED:
      return { outcome: "failed", error: failureRecord(result.error), ...effect };
    case AttemptOutcome.TIMED_OUT:
      return { outcome: "timed_out", error: failureRecord(result.error), ...effect };
    case AttemptOutcome.UNKNOWN:
      return { outcome: "unknown", error: failureRecord(result.error), ...effect };
    default:
      throw new MalformedFrame("an attempt's result has no outcome");
  }
}

function notificationOf({ notification }: AttemptResultMessage): {
  readonly notification?: NotificationRecord;
} {
  if (notification === undefined) return {};
  const { text, final } = notification;
  return { notification: { text, final } };
}

/** Absent where the proposal names nothing that follows, which is legal for an unknown outcome only. */
export function followOf(follow: Advance["follow"]): NextStep | RunEnd | undefined {
  switch (follow.case) {
    case "next":
      return nextStep(follow.value);
    case "end":
      return runEnd(follow.value);
    case undefined:
      return undefined;
  }
}

function nextStep({ node, retry, timeoutMs }: NextStepMessage): NextStep {
  return { kind: "next", node: nameText("the next node", node), retry, ...optionalMs(timeoutMs) };
}

function runEnd(end: RunEndMessage): RunEnd {
  switch (end.outcome) {
    case AttemptOutcome.OK:
      return { kind: "end", outcome: "ok", resultJson: jsonText("the result", end.resultJson) };
    case AttemptOutcome.FAILED:
      return { kind: "end", outcome: "failed", error: failureRecord(end.error) };
    case AttemptOutcome.TIMED_OUT:
      return { kind: "end", outcome: "timed_out", error: failureRecord(end.error) };
    default:
      throw new MalformedFrame("the run's end has no outcome");
  }
}

function effectOutcome(effect: EffectOutcomeMessage): EffectOutcome {
  const effectId = nameText("the effect", effect.effectId);
  const { detail } = effect;
  switch (effect.kind) {
    case EffectOutcomeKind.APPLIED:
      return {
        effectId,
        kind: "applied",
        receiptJson: jsonText("the receipt", effect.receiptJson),
      };
    case EffectOutcomeKind.REJECTED:
      return { effectId, kind: "rejected", detail };
    case EffectOutcomeKind.UNKNOWN:
      return { effectId, kind: "unknown", detail };
    default:
      throw new MalformedFrame("an effect's outcome has no kind");
  }
}
