import { resolve } from "node:path";
import type { HostClient } from "../../client/host-client.ts";
import { RunStatus } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary } from "../../gen/piworkflows/common/v1/run_pb.ts";
import { ListRunsResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { ListRunsResponse } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { integer, UsageError } from "../arguments.ts";
import type { Arguments } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { table } from "../table.ts";
import { fromNow, safe } from "../../platform/text.ts";
import { messageJson } from "../values.ts";
import { colourOf, msOf, statusWord } from "../views/words.ts";

const STATUSES: Readonly<Record<string, RunStatus>> = Object.fromEntries(
  Object.entries(RunStatus)
    .filter(([, value]) => value !== RunStatus.UNSPECIFIED)
    .map(([name, value]) => [name.toLowerCase(), value]),
);
const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000_000;
const PAGE_MAX = 500;

interface Filter {
  readonly statuses: RunStatus[];
  readonly workflow: string;
  readonly projectDir: string;
}

export const command: Command = {
  description: "Lists runs, newest first.",
  options: {
    status: {
      type: "string",
      value: "STATUS",
      multiple: true,
      help: "Only runs with this status",
      choices: Object.keys(STATUSES),
    },
    workflow: { type: "string", value: "NAME", help: "Only runs of this workflow" },
    project: { type: "string", value: "DIR", help: "Only runs of this project folder" },
    limit: { type: "string", value: "N", help: `At most so many runs (${LIMIT_DEFAULT})` },
    all: { type: "boolean", help: "All runs" },
  },
  examples: [
    ["list", "the newest runs"],
    ["list --status waiting --status blocked", "runs that need somebody"],
    ["list --project . --all --json", "every run of this project"],
  ],
  async run(args, cli) {
    const limit = limitOf(args);
    const client = await cli.connect();
    const response = await readRuns(client, filterOf(args, cli), limit);
    if (cli.json) cli.out.json(messageJson(ListRunsResponseSchema, response));
    else await printRuns(cli, response);
    return ExitCode.success;
  },
};

/** Lines for runs, under a head. */
export async function runTable(cli: Cli, runs: readonly RunSummary[]): Promise<readonly string[]> {
  const { out, clock } = cli;
  const rows = runs.map((run) => [
    run.runId,
    statusWord(run),
    fromNow(msOf(run.updatedAt), clock.now()),
    safe(run.node),
    safe(run.title === "" ? run.workflow : run.title),
  ]);
  const [head = "", ...lines] = await table(
    [["RUN", "STATUS", "CHANGED", "NODE", "TITLE"], ...rows],
    {
      columns: out.columns,
    },
  );
  const coloured = lines.map((line, index) => {
    const status = rows[index]?.[1] ?? "";
    const at = line.indexOf(status, rows[index]?.[0]?.length);
    return line.slice(0, at) + out.style(colourOf(status), status) + line.slice(at + status.length);
  });
  return [out.style("bold", head), ...coloured];
}

async function readRuns(
  client: HostClient,
  filter: Filter,
  limit: number,
): Promise<ListRunsResponse> {
  let pageToken = "";
  let all: ListRunsResponse | undefined;
  do {
    const pageSize = Math.min(PAGE_MAX, limit - (all?.runs.length ?? 0));
    const request = { ...filter, pageSize, pageToken };
    const page = await client.call(({ runs }) => runs.listRuns(request));
    if (all === undefined) all = page;
    else all.runs.push(...page.runs);
    pageToken = page.nextPageToken;
    all.nextPageToken = pageToken;
  } while (pageToken !== "" && all.runs.length < limit);
  return all;
}

async function printRuns(cli: Cli, { runs, nextPageToken }: ListRunsResponse): Promise<void> {
  if (runs.length === 0) {
    cli.out.note("no runs");
    return;
  }
  cli.out.lines(await runTable(cli, runs));
  if (nextPageToken !== "") cli.out.note("there are more: --limit N or --all");
}

function limitOf(args: Arguments): number {
  if (args.flag("all")) return LIMIT_MAX;
  const text = args.text("limit");
  return text === undefined ? LIMIT_DEFAULT : integer("limit", text, { min: 1, max: LIMIT_MAX });
}

function filterOf(args: Arguments, { cwd }: Cli): Filter {
  const project = args.text("project");
  return {
    statuses: args.list("status").map(statusOf),
    workflow: args.text("workflow") ?? "",
    projectDir: project === undefined ? "" : resolve(cwd, project),
  };
}

function statusOf(name: string): RunStatus {
  const status = STATUSES[name];
  if (status !== undefined) return status;
  throw new UsageError(
    `--status must be one of ${Object.keys(STATUSES).join(", ")}, not "${name}"`,
  );
}
