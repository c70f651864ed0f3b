/** How a model turn ended, as a session tells it. */
import {
  TurnErrorKind,
  TurnOutcome as Outcome,
} from "../../gen/piworkflows/common/v1/session_pb.ts";
import type { TurnError } from "../../gen/piworkflows/common/v1/session_pb.ts";
import type { TurnOutcome } from "../operations/turn-consequence.ts";
import type { TurnErrorRecord } from "../records-sessions.ts";
import { invalid } from "./checks.ts";

/** Absent while the turn goes on. */
export function turnOutcome(outcome: Outcome): TurnOutcome | undefined {
  switch (outcome) {
    case Outcome.UNSPECIFIED:
      return undefined;
    case Outcome.COMPLETED:
      return "completed";
    case Outcome.ABORTED:
      return "aborted";
    case Outcome.STOPPED:
      return "stopped";
    case Outcome.FAILED:
      return "failed";
    case Outcome.LOST:
      return "lost";
    default:
      throw invalid("outcome", `has no meaning ${String(outcome)}`);
  }
}

/** Why it failed; of a turn that did not, nothing. */
export function turnEnding(
  outcome: TurnOutcome,
  error: TurnError | undefined,
): { readonly error?: TurnErrorRecord } {
  if (outcome !== "failed") return {};
  const { kind = TurnErrorKind.OTHER, message = "", retryAfterMs } = error ?? {};
  return {
    error: {
      kind: errorKind(kind),
      message,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs: Number(retryAfterMs) }),
    },
  };
}

function errorKind(kind: TurnErrorKind): TurnErrorRecord["kind"] {
  if (kind === TurnErrorKind.RATE_LIMIT) return "rate_limit";
  return kind === TurnErrorKind.USAGE_LIMIT ? "usage_limit" : "other";
}
