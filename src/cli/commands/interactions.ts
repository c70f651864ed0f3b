import { InteractionStatus } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { Interaction } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import {
  GetInteractionResponseSchema,
  ListInteractionsResponseSchema,
} from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { UsageError } from "../arguments.ts";
import { readInteractions } from "../read-interactions.ts";
import { tableOrRecords } from "../table.ts";
import { fromNow, localTime, safe, word } from "../../platform/text.ts";
import { valueJson } from "../../client/json-value.ts";
import { messageJson } from "../values.ts";
import { answerLines, choiceLines, requestLines } from "../views/question.ts";
import { answerCommand, deliveryWords, kindWord } from "../views/waiting.ts";
import { indented, valueLines } from "../../client/value-lines.ts";
import { msOf } from "../views/words.ts";

const LABEL_CHARS = 9;

export const command: Command = {
  description:
    "Lists the questions of runs that wait for an answer, oldest first. With the id of one it\n" +
    "shows that one whole: what is asked, with what, and what the answer must be.",
  positionals: [{ name: "INTERACTION", optional: true, completes: "interaction" }],
  options: {
    run: { type: "string", value: "RUN", help: "Only those of this run" },
    all: { type: "boolean", help: "Also those that are closed" },
  },
  examples: [
    ["interactions", "what waits for me"],
    ["interactions int_01jd", "one question, whole"],
    ["interactions --run run_01jd --all", "everything a run has asked"],
  ],
  async run(args, cli) {
    const [id] = args.positionals;
    const filter = { runId: args.text("run") ?? "", includeClosed: args.flag("all") };
    if (id !== undefined && (filter.runId !== "" || filter.includeClosed)) {
      throw new UsageError("--run and --all select from the list; they do not go with an id");
    }
    const client = await cli.connect();
    if (id !== undefined) return await showOne(cli, id);
    const response = await readInteractions(client, filter);
    if (cli.json) cli.out.json(messageJson(ListInteractionsResponseSchema, response));
    else if (response.interactions.length === 0) cli.out.note("nothing waits for an answer");
    else {
      cli.out.lines(await lines(cli, response.interactions));
      cli.out.note(
        "one of them whole, with the command that answers it: pi-workflows interactions INTERACTION",
      );
    }
    return ExitCode.success;
  },
};

async function showOne(cli: Cli, interactionId: string): Promise<ExitCode> {
  const client = await cli.connect();
  const response = await client.call(({ interactions }) =>
    interactions.getInteraction({ interactionId }),
  );
  if (cli.json) cli.out.json(messageJson(GetInteractionResponseSchema, response));
  else if (response.interaction !== undefined) cli.out.lines(whole(cli, response.interaction));
  return ExitCode.success;
}

function whole({ clock, out }: Cli, one: Interaction): readonly string[] {
  const pending = one.status === InteractionStatus.PENDING;
  const answer = one.answer === undefined ? [] : valueLines(valueJson(one.answer));
  const way = answerCommand(one);
  const section = (title: string, body: readonly string[]): readonly string[] =>
    body.length === 0 ? [] : ["", out.style("bold", title), ...body];
  return [
    `${out.style("bold", one.interactionId)}  ${safe(one.summary)}`,
    ...facts(one, clock.now()),
    ...section("Prompt", one.prompt === "" ? [] : indented(valueLines(one.prompt))),
    ...section("Asked with", requestLines(one)),
    ...section("Choices", choiceLines(one)),
    ...section("Answer", [...answerLines(one), ...indented(answer)]),
    ...(pending && way !== "" ? ["", way] : []),
  ];
}

function facts(one: Interaction, now: number): readonly string[] {
  const expires = one.status === InteractionStatus.PENDING ? msOf(one.deadlineAt) : undefined;
  const until = expires === undefined ? "" : `${fromNow(expires, now)} (${localTime(expires)})`;
  const pairs: readonly (readonly [string, string])[] = [
    ["status", word(InteractionStatus, one.status)],
    ["kind", kindWord(one.kind)],
    ["run", `${one.runId}  ${safe(one.runTitle)}`],
    ["node", safe(one.node)],
    ["asked", localTime(msOf(one.createdAt) ?? 0)],
    ["expires", until],
    ["where", deliveryWords(one, now)],
    ["rejected", safe(one.lastError)],
    ["by", safe(one.answeredBy)],
  ];
  return pairs
    .filter(([, value]) => value !== "")
    .map(([label, value]) => `  ${label.padEnd(LABEL_CHARS)}${value}`);
}

async function lines(cli: Cli, interactions: readonly Interaction[]): Promise<readonly string[]> {
  const now = cli.clock.now();
  const rows = interactions.map((one) => [
    one.interactionId,
    kindWord(one.kind),
    word(InteractionStatus, one.status),
    fromNow(msOf(one.createdAt), now),
    safe(one.summary),
    one.runId,
  ]);
  const heads = ["INTERACTION", "KIND", "STATUS", "ASKED", "QUESTION", "RUN"];
  const [head = "", ...rest] = await tableOrRecords(rows, {
    columns: cli.out.columns,
    first: 4,
    heads,
  });
  return [cli.out.style("bold", head), ...rest];
}
