import { interactionLifecycle } from "../lifecycle/interaction.ts";
import type { AttemptRecord, ClaimRecord, EffectRecord, TimerRecord } from "../records.ts";
import { messageLifecycle } from "../lifecycle/message.ts";
import { submissionLifecycle } from "../lifecycle/submission.ts";
import type { InteractionRecord, MessageRecord, SubmissionRecord } from "../records-sessions.ts";
import { closeAttempt } from "../operations/attempt-rows.ts";
import { abandonEffects, loseEffect } from "../operations/effect-rows.ts";
import { interrupt } from "../operations/interruption.ts";
import { announceEnd, askInSession } from "../operations/session-messages.ts";
import { releaseClaim } from "../operations/step.ts";
import type { Mend } from "./finding.ts";

const CAUSE = "repair: nobody executes it";

/** The status of a claim's run proves that the claim gives no right any more. */
export function releasing({ generation }: ClaimRecord): Mend {
  return { what: `release the claim of generation ${generation}`, apply: releaseClaim };
}

/** Nobody owns the run, so its attempt cannot be executing; how it ended is unknown. */
export function interrupting(attempt: AttemptRecord): Mend {
  return {
    what: `close attempt ${attempt.attemptId} as interrupted`,
    apply: (step) =>
      closeAttempt(step, attempt, {
        event: "interrupt",
        error: { name: "Interrupted", message: CAUSE },
      }),
  };
}

/** A run without a claim is executed by nobody: it goes the way of a lost worker. */
export function requeueing(): Mend {
  return {
    what: "treat the run as one whose worker is gone: queue it, or block it for a manual effect",
    apply: (step) => interrupt(step, { reason: CAUSE, counted: false }),
  };
}

/** An idempotent effect that nobody applies any more is applied again under its key. */
export function losing(effect: EffectRecord): Mend {
  return {
    what: `make effect ${effect.effectId} pending again; its key stays`,
    apply: (step) => loseEffect(step, effect, { again: true, detail: CAUSE }),
  };
}

/** The run has ended: nothing that it left open can still come to anything. */
export function closingAttempt(attempt: AttemptRecord): Mend {
  return {
    what: `close attempt ${attempt.attemptId} as cancelled`,
    apply: (step) => closeAttempt(step, attempt, { event: "cancel" }),
  };
}

export function closingInteraction({ interactionId, status: open }: InteractionRecord): Mend {
  return {
    what: `cancel interaction ${interactionId}`,
    apply({ tx, at }) {
      const status = interactionLifecycle.next(open, "cancel");
      tx.put.interactionChange(interactionId, { status, closedAt: at });
    },
  };
}

export function closingTimer({ timerId }: TimerRecord): Mend {
  return {
    what: `cancel timer ${timerId}`,
    apply: ({ tx, at }) => tx.put.timerChange(timerId, { status: "cancelled", closedAt: at }),
  };
}

export function abandoning(effect: EffectRecord): Mend {
  const end = effect.status === "applying" || effect.unknownBefore ? "ambiguous" : "cancelled";
  return {
    what: `make effect ${effect.effectId} ${end}`,
    apply: (step) => abandonEffects(step, [effect], CAUSE),
  };
}

/** Nobody validates it, so it can only be submitted again. */
export function rejecting(
  { submissionId, status: open }: SubmissionRecord,
  reason: "cancelled" | "interrupted",
): Mend {
  return {
    what: `reject submission ${submissionId} as ${reason}`,
    apply({ tx, at }) {
      const status = submissionLifecycle.next(open, "reject");
      tx.put.submissionChange(submissionId, { status, reason, error: CAUSE, closedAt: at });
    },
  };
}

/** Nothing is submitted that its status could mean. */
export function reopening({ interactionId, status: from }: InteractionRecord): Mend {
  return {
    what: `make interaction ${interactionId} pending again`,
    apply({ tx }) {
      const status = interactionLifecycle.next(from, "reject");
      tx.put.interactionChange(interactionId, { status, lastError: CAUSE });
    },
  };
}

/** The request is open and its session knows nothing of it, or has done with it. */
export function asking(interaction: InteractionRecord, wasAsked: boolean): Mend {
  return {
    what: `ask for ${interaction.interactionId} in its session again`,
    apply: (step) => askInSession(step, interaction, { reason: wasAsked ? "resumed" : "first" }),
  };
}

/** Nobody needs an answer to what it asks. */
export function withdrawing({ messageId, status: open }: MessageRecord): Mend {
  return {
    what: `cancel message ${messageId}`,
    apply({ tx, at }) {
      const status = messageLifecycle.next(open, "cancel");
      tx.put.messageChange(messageId, { status, closedAt: at });
    },
  };
}

/** What the session is told of an end is in the run's own row. */
export function telling(): Mend {
  return { what: "tell the session how the run ended", apply: announceEnd };
}
