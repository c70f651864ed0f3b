/** Putting a question of a run to the person at the terminal. */
import type { JsonValue } from "@bufbuild/protobuf";
import type { HostClient } from "../client/host-client.ts";
import { Reason } from "../gen/piworkflows/common/v1/error_pb.ts";
import type { Interaction } from "../gen/piworkflows/common/v1/interaction_pb.ts";
import type { AnswerCheckpointResponse } from "../gen/piworkflows/host/v1/interaction_service_pb.ts";
import { isRejectedFor, rejectionOf } from "../client/rejection.ts";
import type { Cli } from "./command.ts";
import { newCommand } from "./commands/shared.ts";
import { answerOf, choicesOf } from "../client/answer-choices.ts";
import { interactionOf } from "./find-interaction.ts";
import { ask } from "./prompt.ts";
import { safe, safeLines } from "../platform/text.ts";
import { valueJson } from "../client/json-value.ts";
import { toValue } from "./values.ts";
import { answerLines, requestLines, typingHint } from "./views/question.ts";
import { closedWords, isClosed } from "./views/waiting.ts";

export interface Asking {
  readonly interactionId: string;
  /** Idempotency key; one of its own for each answer when absent. */
  readonly key?: string | undefined;
}

/** `left`: the person did not want to answer. `closed`: somebody else did first; `how` says it. */
export type Asked =
  | { readonly end: "left" }
  | { readonly end: "closed"; readonly how: string }
  | { readonly end: "answered"; readonly response: AnswerCheckpointResponse };

/** Shows the question and asks until the host takes the answer. */
export async function askPerson(cli: Cli, client: HostClient, asking: Asking): Promise<Asked> {
  const { interactionId, key } = asking;
  const interaction = await interactionOf(client, interactionId);
  if (isClosed(interaction)) return { end: "closed", how: closedWords(interaction, "already") };
  const schema = valueJson(interaction.schema);
  cli.out.lines(questionLines(cli, interaction, schema));
  for (;;) {
    const typed = await ask("> ");
    if (typed === undefined) return { end: "left" };
    const answer = toValue("the answer", answerOf(typed, schema));
    // A refused answer has used up no key.
    const request = { command: newCommand(key), interactionId, answer };
    try {
      const response = await client.call(({ interactions }) =>
        interactions.answerCheckpoint(request),
      );
      return { end: "answered", response };
    } catch (error) {
      if (isRejectedFor(error, Reason.INTERACTION_CLOSED)) {
        return { end: "closed", how: closedWords(await interactionOf(client, interactionId)) };
      }
      if (!isRejectedFor(error, Reason.ANSWER_INVALID)) throw error;
      cli.out.note(wrongAnswer(rejectionOf(error)?.message ?? "", schema));
    }
  }
}

function questionLines(
  { out }: Cli,
  interaction: Interaction,
  schema: JsonValue,
): readonly string[] {
  const choices = choicesOf(schema);
  const listed = choices.map(({ label, number }) => `  ${number ?? "-"}  ${safe(label)}`);
  return [
    "",
    out.style("bold", safeLines(interaction.summary)),
    ...requestLines(interaction),
    ...(choices.length > 0 ? listed : answerLines(interaction)),
    `(${typingHint(schema)}; Ctrl-D leaves the question open)`,
  ];
}

function wrongAnswer(message: string, schema: JsonValue): string {
  const labels = choicesOf(schema).map(({ label }) => safe(label));
  const hint = labels.length > 0 ? `allowed: ${labels.join(", ")}` : typingHint(schema);
  return `${safeLines(message)}\n(${hint})`;
}
