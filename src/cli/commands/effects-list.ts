import type { HostClient } from "../../client/host-client.ts";
import { EffectStatus } from "../../gen/piworkflows/common/v1/effect_pb.ts";
import type { Effect } from "../../gen/piworkflows/common/v1/effect_pb.ts";
import { ListEffectsResponseSchema } from "../../gen/piworkflows/host/v1/effect_service_pb.ts";
import type { ListEffectsResponse } from "../../gen/piworkflows/host/v1/effect_service_pb.ts";
import type { Arguments } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { tableOrRecords } from "../table.ts";
import { fromNow, safe } from "../../platform/text.ts";
import { messageJson } from "../values.ts";
import { effectWord, msOf } from "../views/words.ts";

const PAGE_SIZE = 500;
/** What is not settled, and so may need somebody. */
const OPEN: readonly EffectStatus[] = [
  EffectStatus.PENDING,
  EffectStatus.APPLYING,
  EffectStatus.AMBIGUOUS,
];

export const command: Command = {
  description:
    "Lists managed side effects, newest first: those that are not settled, or all. An ambiguous\n" +
    "one waits for a person to say what became of it: pi-workflows effects resolve.",
  options: {
    run: { type: "string", value: "RUN", help: "Only those of this run" },
    all: { type: "boolean", help: "Also those that are settled" },
  },
  examples: [
    ["effects list", "what is not settled"],
    ["effects list --run run_01jd --all --json", "everything a run did outside"],
  ],
  async run(args, cli) {
    const client = await cli.connect();
    const response = await readAll(client, args);
    if (cli.json) cli.out.json(messageJson(ListEffectsResponseSchema, response));
    else if (response.effects.length === 0) cli.out.note("no such effects");
    else cli.out.lines(await lines(cli, response.effects));
    return ExitCode.success;
  },
};

async function readAll(client: HostClient, args: Arguments): Promise<ListEffectsResponse> {
  const statuses = args.flag("all") ? [] : [...OPEN];
  const next = (pageToken: string): Promise<ListEffectsResponse> => {
    const request = { runId: args.text("run") ?? "", statuses, pageSize: PAGE_SIZE, pageToken };
    return client.call(({ effects }) => effects.listEffects(request));
  };
  const all = await next("");
  while (all.nextPageToken !== "") {
    const page = await next(all.nextPageToken);
    all.effects.push(...page.effects);
    all.nextPageToken = page.nextPageToken;
  }
  return all;
}

async function lines(cli: Cli, effects: readonly Effect[]): Promise<readonly string[]> {
  const now = cli.clock.now();
  const rows = effects.map((effect) => [
    effect.effectId,
    effectWord(effect.status),
    safe(effect.type),
    effect.policy,
    safe(effect.node),
    fromNow(msOf(effect.updatedAt), now),
    effect.runId,
    safe(effect.key),
    safe(effect.detail),
  ]);
  const heads = ["EFFECT", "STATUS", "TYPE", "POLICY", "NODE", "CHANGED", "RUN", "KEY", "WHY"];
  const [head = "", ...rest] = await tableOrRecords(rows, {
    columns: cli.out.columns,
    first: 4,
    heads,
  });
  return [cli.out.style("bold", head), ...rest];
}
