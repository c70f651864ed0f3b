import type { HostClient } from "../../client/host-client.ts";
import { InteractionKind } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { Interaction } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import { AnswerCheckpointResponseSchema } from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type { AnswerCheckpointResponse } from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import { Outcome } from "../../gen/piworkflows/common/v1/command_pb.ts";
import { askPerson } from "../answer-question.ts";
import type { Asked } from "../answer-question.ts";
import { readInteractions } from "../read-interactions.ts";
import { RefusedError, UsageError } from "../arguments.ts";
import type { Arguments } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { findInteraction } from "../find-interaction.ts";
import { safe } from "../../platform/text.ts";
import { readValue, toValue } from "../values.ts";
import type { Value } from "@bufbuild/protobuf/wkt";
import { isForModel, kindWord, otherWay } from "../views/waiting.ts";
import { KEY_OPTION, newCommand, printResponse } from "./shared.ts";

export const command: Command = {
  description:
    "Answers a question of a run: by the interaction's id, or by the run's, which then means\n" +
    "the question the run waits with. Without an answer it asks, if there is a terminal.",
  positionals: [
    { name: "INTERACTION|RUN", completes: "interaction" },
    { name: "JSON", optional: true },
  ],
  options: {
    text: { type: "string", value: "TEXT", help: "The answer is this text" },
    key: KEY_OPTION,
  },
  examples: [
    ["answer int_01jd", "look at the question and answer it"],
    [`answer int_01jd '{"publish":true}'`, "with a JSON value; @FILE and - work, too"],
    ["answer run_01jd --text yes", "with a text"],
  ],
  async run(args, cli) {
    const given = givenAnswer(args, cli);
    if (given === undefined && !cli.canAsk) {
      throw new UsageError(
        "there is no terminal to ask at: give the answer as JSON or with --text",
      );
    }
    const client = await cli.connect();
    const key = args.text("key");
    if (given === undefined) {
      const interaction = await findInteraction(client, args.required(0));
      const { interactionId, kind } = interaction;
      if (isForModel(kind) || kind === InteractionKind.HUMAN_DECISION) {
        const what = `${interactionId} is a ${kindWord(kind)}, no question`;
        throw new RefusedError(`${what}${otherWay(interaction)}`);
      }
      return asked(cli, interaction, await askPerson(cli, client, { interactionId, key }));
    }
    const interaction = await findInteraction(client, args.required(0), newest);
    const { interactionId } = interaction;
    const request = { command: newCommand(key), interactionId, answer: given };
    const response = await client.call(({ interactions }) =>
      interactions.answerCheckpoint(request),
    );
    printAnswered(cli, interaction, response);
    return ExitCode.success;
  },
};

function givenAnswer(args: Arguments, cli: Cli): Value | undefined {
  const json = args.positionals[1];
  const text = args.text("text");
  if (json !== undefined && text !== undefined) {
    throw new UsageError("the answer is given twice: as JSON and with --text");
  }
  if (text !== undefined) return toValue("--text", text);
  return json === undefined ? undefined : readValue("the answer", json, cli.cwd);
}

function printAnswered(cli: Cli, of: Interaction, response: AnswerCheckpointResponse): void {
  const { interactionId, summary } = of;
  const isOld = response.receipt?.outcome === Outcome.ADOPTED;
  printResponse(cli, AnswerCheckpointResponseSchema, response, () => [
    isOld
      ? `${interactionId} had this answer already: ${safe(summary)}`
      : `answered ${interactionId}: ${safe(summary)}`,
  ]);
}

function asked(cli: Cli, interaction: Interaction, asking: Asked): ExitCode {
  if (asking.end === "answered") {
    printAnswered(cli, interaction, asking.response);
    return ExitCode.success;
  }
  if (asking.end === "closed") {
    throw new RefusedError(asking.how);
  }
  cli.out.note("nothing was answered");
  return ExitCode.runNeedsAnswer;
}

/** A repeated answer finds its question closed; the host then tells whether it is the same. */
async function newest(client: HostClient, runId: string): Promise<string> {
  const all = await readInteractions(client, { runId, includeClosed: true });
  return all.interactions.at(-1)?.interactionId ?? "";
}
