/** Carries out what the end of a turn means, within the transaction of that end. */
import { VALUE_BYTES_MAX } from "../limits.ts";
import type { FailureRecord } from "../records.ts";
import type {
  HoldCause,
  InteractionRecord,
  MessageReason,
  TurnErrorRecord,
} from "../records-sessions.ts";
import type { Change } from "../store/tx.ts";
import { digestOfJson } from "./canonical.ts";
import { contractOf } from "./contract-of.ts";
import { block } from "./interruption.ts";
import { remind } from "./reminding.ts";
import { holdMs } from "./retry-after.ts";
import { pause } from "./run-control.ts";
import { askInSession } from "./session-messages.ts";
import { settleAnswered, settleFailed } from "./settle.ts";
import { changeRun, storeValue } from "./step.ts";
import type { Step } from "./step.ts";
import { actionOf } from "./turn-consequence.ts";
import type { Action, Consequence } from "./turn-consequence.ts";

/** What the session told of the end, as far as it matters here. */
export interface Told {
  /** Pi's session in which the turn was. */
  readonly sessionId: string;
  readonly replyText: string;
  readonly replyWhole: boolean;
  readonly error?: TurnErrorRecord;
}

export function carryOut(
  step: Step,
  interaction: InteractionRecord,
  consequence: Consequence,
  told: Told,
): void {
  switch (consequence) {
    case "close":
      return;
    case "remind":
      remind(step, interaction);
      return;
    case "take_reply":
      takeReply(step, interaction, told);
      return;
    case "pause":
      pause(step, false);
      return;
    case "hold":
      hold(step, interaction, told);
      return;
    case "retry":
    case "show_again":
    case "show_again_uncounted":
      perform(step, interaction, actionOf(consequence, interaction), told);
  }
}

/** Shows the request again, and tells so in the run's history. */
export function askAgain(
  step: Step,
  interaction: InteractionRecord,
  reason: MessageReason,
  availableAt?: number,
): Step {
  const message = askInSession(step, interaction, {
    reason,
    ...(availableAt === undefined ? {} : { availableAt }),
  });
  const { interactionId, reminders, modelErrors, lostTurns } = interaction;
  return changeRun(step, {
    event: "remind",
    change: {},
    data: {
      interactionId,
      reason,
      reminders,
      modelErrors,
      lostTurns,
      ...(message === undefined ? {} : { messageId: message.messageId }),
    },
  });
}

/** Changes the row and returns it as it is then. */
export function changeInteraction(
  { tx }: Step,
  interaction: InteractionRecord,
  change: Change<InteractionRecord>,
): InteractionRecord {
  tx.put.interactionChange(interaction.interactionId, change);
  // Only counters and the newest error are ever changed so, and none of them is cleared.
  return { ...interaction, ...change } as InteractionRecord;
}

function perform(step: Step, interaction: InteractionRecord, action: Action, told: Told): void {
  switch (action.kind) {
    case "close":
      return;
    case "ask": {
      const { reason, delayMs, counters } = action;
      const availableAt = delayMs === 0 ? undefined : availableFrom(step, interaction, delayMs);
      askAgain(step, changeInteraction(step, interaction, counters), reason, availableAt);
      return;
    }
    case "fail":
      settleFailed(step, interaction, modelError(interaction, told));
      return;
    case "block":
      changeInteraction(step, interaction, { lostTurns: interaction.lostTurns + 1 });
      block(step, { reason: "no_progress", detail: noProgress(interaction) });
  }
}

/** The whole reply is the answer; anything else is a turn without a result. */
function takeReply(step: Step, interaction: InteractionRecord, told: Told): void {
  const json = JSON.stringify(told.replyText);
  const problem = replyProblem(step, interaction, told, json);
  if (problem === undefined) {
    settleAnswered(step, interaction, {
      value: storeValue(step.tx, json, "the reply"),
      digest: digestOfJson(json, "the reply"),
      client: `session ${told.sessionId}`,
    });
    return;
  }
  remind(step, changeInteraction(step, interaction, { lastError: problem }));
}

function replyProblem(
  { tx }: Step,
  interaction: InteractionRecord,
  { replyText, replyWhole }: Told,
  json: string,
): string | undefined {
  if (replyText.trim() === "") return "the turn ended without a reply";
  if (!replyWhole) return "the reply was cut off before its end";
  const { replyCharsMax = Infinity } = contractOf(tx, interaction);
  // Characters as people count them, not units of UTF-16.
  const chars = Array.from(replyText).length;
  if (chars > replyCharsMax)
    return `the reply has ${chars} characters, at most ${replyCharsMax} are taken`;
  const bytes = Buffer.byteLength(json);
  if (bytes <= VALUE_BYTES_MAX) return undefined;
  return `the reply has ${bytes} bytes, at most ${VALUE_BYTES_MAX} are taken`;
}

/** All steps of the session wait for the provider; whoever asks for less is shown meanwhile. */
function hold(step: Step, interaction: InteractionRecord, { sessionId, error }: Told): void {
  const { tx, at } = step;
  const session = tx.sessions.get(sessionId);
  if (session === undefined || error === undefined) return;
  const cause: HoldCause = error.kind === "usage_limit" ? "usage_limit" : "rate_limit";
  const delayMs = holdMs(error, session.heldCount);
  const heldUntil = Math.max(at + delayMs, session.heldUntil ?? 0);
  tx.put.sessionChange(sessionId, {
    heldUntil,
    heldFor: cause,
    heldCount: session.heldCount + 1,
    updatedAt: at,
  });
  const message = askInSession(step, interaction, {
    reason: "rate_limit",
    availableAt: availableFrom(step, interaction, delayMs),
  });
  changeRun(step, {
    event: "hold",
    change: {},
    data: {
      interactionId: interaction.interactionId,
      until: new Date(heldUntil).toISOString(),
      cause,
      ...(message === undefined ? {} : { messageId: message.messageId }),
    },
  });
}

/** Never past the deadline: then the request expires, and is not shown for nothing. */
function availableFrom(
  { at }: Step,
  { deadlineAt = Infinity }: InteractionRecord,
  delayMs: number,
): number {
  return Math.min(at + delayMs, deadlineAt);
}

function modelError({ node, modelErrors }: InteractionRecord, { error }: Told): FailureRecord {
  const why = error === undefined ? "" : `: ${error.message}`;
  const message = `the model failed ${modelErrors + 1} times in a row at ${node}${why}`;
  return { name: "model_error", message };
}

function noProgress({ node, lostTurns }: InteractionRecord): string {
  return (
    `${lostTurns + 1} model turns in a row at ${node} ended without anybody seeing how; ` +
    "resume the run when its session is well"
  );
}
