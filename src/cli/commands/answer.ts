import type { HostClient } from "../../client/host-client.ts";
import type { Interaction } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import { AnswerCheckpointResponseSchema } from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import { askPerson } from "../answer-question.ts";
import { RefusedError, UsageError } from "../arguments.ts";
import type { Arguments } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { safe } from "../text.ts";
import { readValue, toValue } from "../values.ts";
import type { Value } from "@bufbuild/protobuf/wkt";
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
    const interaction = await find(client, args.required(0));
    const answer = given ?? (await asked(cli, interaction));
    if (answer === undefined) return leave(cli);
    const { interactionId } = interaction;
    const request = { command: newCommand(args.text("key")), interactionId, answer };
    const response = await client.call(({ interactions }) =>
      interactions.answerCheckpoint(request),
    );
    printResponse(cli, AnswerCheckpointResponseSchema, response, () => [
      `answered ${interactionId}: ${safe(interaction.summary)}`,
    ]);
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

async function asked(cli: Cli, interaction: Interaction): Promise<Value | undefined> {
  const json = await askPerson(cli, interaction);
  return json === undefined ? undefined : toValue("the answer", json);
}

function leave(cli: Cli): ExitCode {
  cli.out.note("nothing was answered");
  return ExitCode.runNeedsAnswer;
}

/** The interaction of this id, or the one the run of this id waits with. */
async function find(client: HostClient, id: string): Promise<Interaction> {
  if (!id.startsWith("run_")) {
    const found = await client.call(({ interactions }) =>
      interactions.getInteraction({ interactionId: id }),
    );
    if (found.interaction !== undefined) return found.interaction;
  }
  const { run } = await client.call(({ runs }) => runs.getRun({ runId: id }));
  const interactionId = run?.summary?.interactionId ?? "";
  if (interactionId === "") {
    throw new RefusedError(`${run?.summary?.runId ?? id} waits for no answer`);
  }
  return await find(client, interactionId);
}
