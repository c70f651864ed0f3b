/** Putting a question of a run to the person at the terminal. */
import type { HostClient } from "../client/host-client.ts";
import { Reason } from "../gen/piworkflows/common/v1/error_pb.ts";
import type { Interaction } from "../gen/piworkflows/common/v1/interaction_pb.ts";
import { isRejectedFor, rejectionOf } from "../client/rejection.ts";
import type { Cli } from "./command.ts";
import { newCommand } from "./commands/shared.ts";
import { answerOf, ask, choicesOf } from "./prompt.ts";
import { prettyJson, safe, safeLines } from "./text.ts";
import { toValue, valueJson } from "./values.ts";
import type { JsonValue } from "@bufbuild/protobuf";

/** The typed answer; absent when the person left. */
export async function askPerson(
  cli: Cli,
  interaction: Interaction,
): Promise<JsonValue | undefined> {
  const { out } = cli;
  const schema = valueJson(interaction.schema);
  const choices = choicesOf(schema);
  out.line();
  out.line(out.style("bold", safeLines(interaction.summary)));
  if (interaction.request !== undefined)
    out.line(safeLines(prettyJson(valueJson(interaction.request))));
  for (const [index, choice] of choices.entries()) out.line(`  ${index + 1}  ${safe(choice)}`);
  if (choices.length === 0 && schema !== null) out.line(`must fit: ${prettyJson(schema)}`);
  const typed = await ask("> ");
  return typed === undefined ? undefined : answerOf(typed, schema);
}

/**
 * Asks until the host takes the answer. False when the person left; true also
 * when somebody else answered first, because then the run goes on all the same.
 */
export async function answerHere(
  cli: Cli,
  client: HostClient,
  interactionId: string,
): Promise<boolean> {
  for (;;) {
    const { interaction } = await client.call(({ interactions }) =>
      interactions.getInteraction({ interactionId }),
    );
    if (interaction === undefined) return true;
    const json = await askPerson(cli, interaction);
    if (json === undefined) return false;
    const request = { command: newCommand(), interactionId, answer: toValue("the answer", json) };
    try {
      await client.call(({ interactions }) => interactions.answerCheckpoint(request));
      return true;
    } catch (error) {
      if (isRejectedFor(error, Reason.INTERACTION_CLOSED)) return true;
      if (!isRejectedFor(error, Reason.ANSWER_INVALID)) throw error;
      cli.out.note(safeLines(rejectionOf(error)?.message ?? ""));
    }
  }
}
