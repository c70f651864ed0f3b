import type { HostClient } from "../../client/host-client.ts";
import { InteractionStatus } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { Interaction } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import { ListInteractionsResponseSchema } from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type { ListInteractionsResponse } from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { table } from "../table.ts";
import { fromNow, safe, word } from "../text.ts";
import { messageJson } from "../values.ts";
import { msOf } from "../views/words.ts";

const PAGE_SIZE = 500;

export const command: Command = {
  description: "Lists the questions of runs that wait for an answer, oldest first.",
  options: {
    run: { type: "string", value: "RUN", help: "Only those of this run" },
    all: { type: "boolean", help: "Also those that are closed" },
  },
  examples: [
    ["interactions", "what waits for me"],
    ["interactions --run run_01jd --all", "everything a run has asked"],
  ],
  async run(args, cli) {
    const client = await cli.connect();
    const filter = { runId: args.text("run") ?? "", includeClosed: args.flag("all") };
    const response = await readAll(client, filter);
    if (cli.json) cli.out.json(messageJson(ListInteractionsResponseSchema, response));
    else if (response.interactions.length === 0) cli.out.note("nothing waits for an answer");
    else cli.out.lines(await lines(cli, response.interactions));
    return ExitCode.success;
  },
};

async function readAll(
  client: HostClient,
  filter: { readonly runId: string; readonly includeClosed: boolean },
): Promise<ListInteractionsResponse> {
  const next = (pageToken: string): Promise<ListInteractionsResponse> => {
    const request = { ...filter, pageSize: PAGE_SIZE, pageToken };
    return client.call(({ interactions }) => interactions.listInteractions(request));
  };
  const all = await next("");
  while (all.nextPageToken !== "") {
    const page = await next(all.nextPageToken);
    all.interactions.push(...page.interactions);
    all.nextPageToken = page.nextPageToken;
  }
  return all;
}

async function lines(cli: Cli, interactions: readonly Interaction[]): Promise<readonly string[]> {
  const now = cli.clock.now();
  const rows = interactions.map((one) => [
    one.interactionId,
    word(InteractionStatus, one.status),
    fromNow(msOf(one.createdAt), now),
    one.runId,
    safe(one.summary),
  ]);
  const heads = ["INTERACTION", "STATUS", "ASKED", "RUN", "QUESTION"];
  const [head = "", ...rest] = await table([heads, ...rows], { columns: cli.out.columns });
  return [cli.out.style("bold", head), ...rest];
}
