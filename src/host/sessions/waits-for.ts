/** What a run waits for, in words. */
import type { Instant, RunRecord } from "../records.ts";
import type {
  HoldCause,
  InteractionKind,
  InteractionRecord,
  MessageRecord,
  SessionRecord,
} from "../records-sessions.ts";

export interface WaitFacts {
  readonly interaction: Pick<InteractionRecord, "kind" | "status"> | undefined;
  /** The request's message that has not been seen yet. */
  readonly open: MessageRecord | undefined;
  readonly isTimed: boolean;
  readonly session: SessionRecord | undefined;
  readonly now: Instant;
}

export function waitsFor(run: RunRecord, facts: WaitFacts): string {
  const { interaction, isTimed } = facts;
  if (run.status === "paused") return "a resume: it is paused";
  if (run.status === "blocked") return "a person: it is blocked";
  if (interaction?.status === "validating") return "the check of the submitted result";
  if (run.status !== "waiting") return "";
  if (interaction !== undefined) return provider(facts) ?? ANSWERS[interaction.kind];
  return isTimed ? "a time" : "";
}

const ANSWERS: Readonly<Record<InteractionKind, string>> = {
  agent: "a result of the model",
  reply: "the model's reply",
  checkpoint: "an answer",
  human_decision: "a person's decision",
};

const LIMITS: Readonly<Record<HoldCause, string>> = {
  rate_limit: "the provider's rate limit",
  usage_limit: "the provider's usage limit",
};

/** What comes before the answer: the provider, or the next try of the model. */
function provider({ session, open, now }: WaitFacts): string | undefined {
  const isStep = open?.kind === "step";
  if (!isStep) return undefined;
  if (session?.heldFor !== undefined && isAfter(session.heldUntil, now)) {
    return LIMITS[session.heldFor];
  }
  const isBackingOff = open.reason === "model_error" && isAfter(open.availableAt, now);
  return isBackingOff ? "the next try of the model" : undefined;
}

function isAfter(time: Instant | undefined, now: Instant): boolean {
  return time !== undefined && time > now;
}
