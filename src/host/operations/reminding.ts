import { REMINDERS_MAX } from "../limits.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import { askInSession } from "./session-messages.ts";
import { settleFailed } from "./settle.ts";
import { changeRun } from "./step.ts";
import type { Step } from "./step.ts";

/**
 * The model was asked and came to no result: it is asked again, twice in all;
 * then the attempt fails as `missing_submission`, which the graph may route.
 */
export function remind(step: Step, interaction: InteractionRecord): Step {
  const { interactionId, kind, lastError } = interaction;
  if (interaction.reminders >= REMINDERS_MAX) {
    const what = kind === "reply" ? "a whole answer" : "a valid result";
    const last = lastError === undefined ? "" : `; the last one was rejected: ${lastError}`;
    const message = `the model was reminded ${REMINDERS_MAX} times and did not give ${what}${last}`;
    return settleFailed(step, interaction, { name: "missing_submission", message });
  }
  const reminders = interaction.reminders + 1;
  step.tx.put.interactionChange(interactionId, { reminders });
  const asked = askInSession(step, { ...interaction, reminders }, { reason: "reminder" });
  return changeRun(step, {
    event: "remind",
    change: {},
    data: {
      interactionId,
      reason: "reminder",
      reminders,
      ...(asked === undefined ? {} : { messageId: asked.messageId }),
    },
  });
}
