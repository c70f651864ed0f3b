import {
  GetRunResponseSchema,
  GetRunValueResponseSchema,
} from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { ValueKind } from "../../gen/piworkflows/host/v1/run_choices_pb.ts";
import type { HostClient } from "../../client/host-client.ts";
import { NotFoundError, UsageError } from "../arguments.ts";
import type { Arguments } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { didYouMean, nearNames } from "../near-names.ts";
import { exitCodeOfRun } from "../outcome.ts";
import { prettyJson, safeLines } from "../../platform/text.ts";
import { valueJson } from "../../client/json-value.ts";
import { messageJson } from "../values.ts";
import { runLines } from "../views/run-view.ts";
import { frameOf, RUN, viewOf } from "./shared.ts";

interface Wanted {
  readonly kind: ValueKind;
  readonly node: string;
}

export const command: Command = {
  description:
    "Shows a run: its state, nodes, effects, the end of its output, its result or error.\n" +
    "With --result, --output or --input-value it prints that value whole, and nothing else.\n" +
    "The exit code tells how the run is: 0 completed or going on, 10 to 15 otherwise.",
  positionals: [RUN],
  options: {
    result: { type: "boolean", help: "Print the run's result" },
    output: { type: "string", value: "NODE", help: "Print the newest output of a node" },
    "input-value": { type: "boolean", help: "Print the run's input" },
    raw: { type: "boolean", help: "With a value that is text: print it as it is, without quotes" },
  },
  examples: [
    ["show sn9r5", "by the end of its id"],
    ["show run_01jd --json", "as JSON"],
    ["show run_01jd --output collect", "what the node collect returned"],
  ],
  async run(args, cli) {
    const wanted = wantedValue(args);
    if (wanted !== undefined) return await showValue(args, cli, wanted);
    if (args.flag("raw")) throw new UsageError("--raw needs --result, --output or --input-value");
    const client = await cli.connect();
    const response = await client.call(({ runs }) => runs.getRun({ runId: args.required(0) }));
    const view = viewOf(response.run);
    if (cli.json) cli.out.json(messageJson(GetRunResponseSchema, response));
    else cli.out.lines(await runLines(view, frameOf(cli)));
    return view.summary === undefined ? ExitCode.success : exitCodeOfRun(view.summary);
  },
};

async function showValue(args: Arguments, cli: Cli, wanted: Wanted): Promise<ExitCode> {
  const client = await cli.connect();
  const request = { runId: args.required(0), ...wanted };
  const response = await client.call(({ runs }) => runs.getRunValue(request));
  if (response.value === undefined) throw await missing(client, args.required(0), wanted);
  if (cli.json) {
    cli.out.json(messageJson(GetRunValueResponseSchema, response));
    return ExitCode.success;
  }
  const json = valueJson(response.value);
  if (args.flag("raw") && typeof json === "string") {
    cli.out.line(cli.out.isTerminal ? safeLines(json) : json);
  } else {
    cli.out.line(prettyJson(json));
  }
  return ExitCode.success;
}

async function missing(
  client: HostClient,
  id: string,
  { kind, node }: Wanted,
): Promise<NotFoundError> {
  const { run } = await client.call(({ runs }) => runs.getRun({ runId: id }));
  const runId = run?.summary?.runId ?? id;
  if (kind !== ValueKind.OUTPUT) return new NotFoundError(`${runId} has no such value`);
  const attempts = run?.attempts ?? [];
  const names = [...new Set(attempts.map((attempt) => attempt.node))];
  const near = names.includes(node) ? [] : nearNames(node, names);
  return new NotFoundError(`${runId} has no output of a node "${node}"${didYouMean(near)}`);
}

function wantedValue(args: Arguments): Wanted | undefined {
  const node = args.text("output");
  const wanted = [
    args.flag("result") ? { kind: ValueKind.RESULT, node: "" } : undefined,
    args.flag("input-value") ? { kind: ValueKind.INPUT, node: "" } : undefined,
    node === undefined ? undefined : { kind: ValueKind.OUTPUT, node },
  ].filter((value) => value !== undefined);
  if (wanted.length > 1) throw new UsageError("only one value can be shown at a time");
  return wanted[0];
}
