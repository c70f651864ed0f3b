import { VALUE_BYTES_MAX } from "../limits.ts";
import type { CommandResult } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import { answerOpen, wrongKind } from "./answering.ts";
import { parseJson } from "./canonical.ts";
import type { AskedCommand } from "./canonical.ts";
import { requireOrigin } from "./origin.ts";
import { requireBytes } from "./step.ts";

export interface AnswerRequest {
  readonly interactionId: string;
  /** The answer as JSON text; that it fits the schema is checked before. */
  readonly answerJson: string;
  /** The caller's session, when it speaks for one. */
  readonly sessionId?: string;
}

/** Answers a checkpoint, which anybody may; see answerOpen. */
export async function answerCheckpoint(
  host: HostContext,
  asked: AskedCommand,
  { interactionId, answerJson, sessionId }: AnswerRequest,
): Promise<CommandResult> {
  requireBytes(answerJson, VALUE_BYTES_MAX, "the answer");
  parseJson(answerJson, "the answer");
  return answerOpen(host, asked, {
    interactionId,
    answerOf(_reader, interaction, run) {
      if (interaction.kind !== "checkpoint") throw wrongKind(interaction, "answered so");
      requireOrigin(run, sessionId);
      return answerJson;
    },
  });
}
