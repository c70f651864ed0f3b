/**
 * What the end of a model turn means for whoever asked for it: the table of
 * pi-bridge.md as data, and how often each consequence may repeat.
 */
import { LOST_TURNS_MAX, MODEL_BACKOFF_MS } from "../limits.ts";
import type { RunStatus } from "../lifecycle/run.ts";
import type { InteractionRecord, MessageReason, TurnErrorKind } from "../records-sessions.ts";

/** How a session says that a turn ended. */
export type TurnOutcome = "completed" | "aborted" | "stopped" | "failed" | "lost";

/**
 * How it ended, for the table. `limited` is a failure that only means to come back
 * later; `joined` is a loss of a message that became part of the user's own run and
 * so never had a turn of its own.
 */
export type TurnEnd = Exclude<TurnOutcome, "failed"> | "limited" | "failed" | "joined";

/**
 * How the request stands that the turn was to answer. By its kind while it is
 * pending and the turn's message is its newest in its session; `replaced` when a newer
 * message asks already; `closed` when nothing is to be answered (any more, or for now).
 */
export type Standing = "agent" | "reply" | "checkpoint" | "validating" | "replaced" | "closed";

export type Consequence =
  /** Nothing but the turn's own end. */
  | "close"
  /** A counted reminder. */
  | "remind"
  /** The reply is the answer if it is whole, else a counted reminder. */
  | "take_reply"
  /** The run pauses. */
  | "pause"
  /** Shown again when the provider takes requests again; all steps of the session wait. */
  | "hold"
  /** Shown again after a back-off, a few times. */
  | "retry"
  /** Shown again at once, a few times. */
  | "show_again"
  /** Shown again at once, whatever happened before. */
  | "show_again_uncounted";

const CLOSED = { replaced: "close", closed: "close" } as const;
/** Whatever else happened, a verdict on the submission decides what follows. */
const AT_VERDICT = { validating: "close", ...CLOSED } as const;

export const CONSEQUENCES: Readonly<Record<TurnEnd, Readonly<Record<Standing, Consequence>>>> = {
  completed: { agent: "remind", reply: "take_reply", checkpoint: "close", ...AT_VERDICT },
  // The user's own Esc: the one end that also counts while something is on its way.
  aborted: {
    agent: "pause",
    reply: "pause",
    checkpoint: "pause",
    validating: "pause",
    replaced: "pause",
    closed: "close",
  },
  stopped: { agent: "close", reply: "close", checkpoint: "close", ...AT_VERDICT },
  limited: { agent: "hold", reply: "hold", checkpoint: "hold", ...AT_VERDICT },
  failed: { agent: "retry", reply: "retry", checkpoint: "retry", ...AT_VERDICT },
  lost: { agent: "show_again", reply: "show_again", checkpoint: "show_again", ...AT_VERDICT },
  joined: {
    agent: "show_again_uncounted",
    reply: "show_again_uncounted",
    checkpoint: "show_again_uncounted",
    ...AT_VERDICT,
  },
};

export interface TurnFacts {
  readonly errorKind: TurnErrorKind | undefined;
  /** The session had told that the turn began. */
  readonly hadTurn: boolean;
}

export function turnEndOf(outcome: TurnOutcome, { errorKind, hadTurn }: TurnFacts): TurnEnd {
  if (outcome === "failed") {
    return errorKind === undefined || errorKind === "other" ? "failed" : "limited";
  }
  return outcome === "lost" && !hadTurn ? "joined" : outcome;
}

export interface StandingFacts {
  /** Absent for the turn of a result. */
  readonly interaction?: Pick<InteractionRecord, "kind" | "status"> | undefined;
  readonly runStatus: RunStatus;
  /** The turn was in the session that shows the run's steps now. */
  readonly inOrigin: boolean;
  /** No newer message asks for the same. */
  readonly isNewest: boolean;
}

export function standingOf({ interaction, ...facts }: StandingFacts): Standing {
  if (interaction === undefined || !facts.inOrigin) return "closed";
  const { kind, status } = interaction;
  if (status === "validating") return "validating";
  // Of a run that is paused or blocked nothing is wanted until a person resumes it.
  if (status !== "pending" || facts.runStatus !== "waiting") return "closed";
  if (kind === "human_decision") return "closed";
  return facts.isNewest ? kind : "replaced";
}

/** In a row, without a completed turn between them. */
export type Counters = Pick<InteractionRecord, "modelErrors" | "lostTurns">;

/** What is done, once it is known how often it was done before. */
export type Action =
  | { readonly kind: "close" }
  | {
      readonly kind: "ask";
      readonly reason: MessageReason;
      readonly delayMs: number;
      readonly counters: Counters;
    }
  /** The attempt fails as `model_error`. */
  | { readonly kind: "fail" }
  /** The run is blocked for want of progress. */
  | { readonly kind: "block" };

/**
 * A request whose turn failed or was lost is shown again a few times in a row.
 * People may still answer a checkpoint when its model gives up, so it is then
 * left to them.
 */
export function actionOf(
  consequence: Extract<Consequence, "retry" | "show_again" | "show_again_uncounted">,
  { kind, modelErrors, lostTurns }: Counters & Pick<InteractionRecord, "kind">,
): Action {
  const isCheckpoint = kind === "checkpoint";
  const again = (reason: MessageReason, delayMs: number, counters: Counters): Action => ({
    kind: "ask",
    reason,
    delayMs,
    counters,
  });
  switch (consequence) {
    case "retry": {
      const delayMs = MODEL_BACKOFF_MS[modelErrors];
      if (delayMs === undefined) return { kind: isCheckpoint ? "close" : "fail" };
      return again("model_error", delayMs, { modelErrors: modelErrors + 1, lostTurns });
    }
    case "show_again": {
      const lost = lostTurns + 1;
      if (lost >= LOST_TURNS_MAX) return { kind: isCheckpoint ? "close" : "block" };
      return again("resumed", 0, { modelErrors, lostTurns: lost });
    }
    case "show_again_uncounted":
      return again("resumed", 0, { modelErrors, lostTurns });
  }
}
