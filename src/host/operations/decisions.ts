import { NAME_BYTES_MAX, VALUE_BYTES_MAX } from "../limits.ts";
import type { HostContext } from "../context.ts";
import type { CommandResult } from "../store/doors.ts";
import { answerOpen, wrongKind } from "./answering.ts";
import type { AskedCommand } from "./canonical.ts";
import { contractOf } from "./contract-of.ts";
import { decisionJson } from "./decision-answer.ts";
import { requireBytes } from "./step.ts";

export interface DecisionRequest {
  readonly interactionId: string;
  /** Id of the choice. */
  readonly choice: string;
  /** What the choice asks for; empty where it asks for nothing. */
  readonly text: string;
}

/**
 * A person decides, and the run is queued. The first valid answer wins; the same
 * again gets its receipt, another is told which one did. That a person asks is
 * checked before.
 */
export async function answerDecision(
  host: HostContext,
  asked: AskedCommand,
  { interactionId, choice, text }: DecisionRequest,
): Promise<CommandResult> {
  requireBytes(choice, NAME_BYTES_MAX, "the choice");
  requireBytes(text, VALUE_BYTES_MAX, "the text");
  return answerOpen(host, asked, {
    interactionId,
    answerOf(reader, interaction) {
      if (interaction.kind !== "human_decision") throw wrongKind(interaction, "decided");
      const { choices = [] } = contractOf(reader, interaction);
      return decisionJson(choices, { choice, text }, interaction.runId);
    },
  });
}
