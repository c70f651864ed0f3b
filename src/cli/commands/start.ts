import { isAbsolute, resolve } from "node:path";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HostClient } from "../../client/host-client.ts";
import { Outcome } from "../../gen/piworkflows/common/v1/command_pb.ts";
import { InteractionKind } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { RunView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import { StartRunResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { StartRunResponse } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { isWorkflowPath } from "../../platform/workflow-files.ts";
import type { Asked } from "../answer-question.ts";
import type { Decided } from "../decide-question.ts";
import { integer, UsageError } from "../arguments.ts";
import type { Arguments } from "../arguments.ts";
import type { Cli, Command, Options } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { parseDuration, parseInstant } from "../times.ts";
import { messageJson, readValue } from "../values.ts";
import { WATCH_OPTIONS, watchLimit, watchRun } from "../watch-run.ts";
import { KEY_OPTION, newCommand, noteWarnings } from "./shared.ts";

const PRIORITY = { min: -100, max: 100 };

const OPTIONS: Options = {
  input: { type: "string", value: "JSON|@FILE|-", help: "The run's input; - reads it from stdin" },
  project: { type: "string", value: "DIR", help: "Folder the nodes work in (the present one)" },
  wait: { type: "boolean", help: "Watch the run until it ends" },
  detach: { type: "boolean", help: "Return at once; this is what happens without --wait" },
  at: { type: "string", value: "TIME", help: "Start no sooner: 2025-01-31T09:00, or +30m" },
  in: { type: "string", value: "DURATION", help: "Start no sooner than after this time" },
  provider: { type: "string", value: "NAME", help: "Provider of the model steps (Pi's choice)" },
  model: { type: "string", value: "NAME", help: "Model of the model steps (Pi's choice)" },
  "pi-arg": {
    type: "string",
    value: "ARG",
    multiple: true,
    help: "Further argument for the Pi that runs the model steps",
  },
  priority: { type: "string", value: "N", help: "From -100 to 100; higher goes first (0)" },
  key: KEY_OPTION,
  ...WATCH_OPTIONS,
};

export const command: Command = {
  description:
    "Starts a run of a workflow and prints its id. The workflow is a file, or a name that\n" +
    "`pi-workflows workflows` lists. With --wait the exit code tells how the run ended, and\n" +
    "Ctrl-C leaves the run going.",
  positionals: [{ name: "WORKFLOW", completes: "workflow" }],
  options: OPTIONS,
  examples: [
    ["start notes.workflow.ts", "start and return"],
    [`start notes --input '{"tag":"v1.2"}' --wait`, "start and watch"],
    ["start notes --input @input.json --key nightly-2025-01-31", "at most once for this key"],
    ["start notes --in 30m", "in half an hour"],
  ],
  async run(args, cli) {
    checkWatchOptions(args);
    const request = requestOf(args, cli);
    const client = await cli.connect();
    const response = await client.call(({ runs }) => runs.startRun(request));
    const runId = response.receipt?.runId ?? "";
    noteWarnings(cli, response.warnings);
    if (cli.json) cli.out.json(messageJson(StartRunResponseSchema, response));
    else started(cli, response, args.flag("wait"));
    if (!args.flag("wait")) return ExitCode.success;
    const onQuestion = (view: RunView): Promise<boolean> => answered(cli, client, view);
    return await watchRun(cli, args, { client, runId, ...(cli.canAsk ? { onQuestion } : {}) });
  },
};

/** The id comes first and alone on its line, so that `head -1` and `$(…)` get it. */
function started({ out }: Cli, { receipt }: StartRunResponse, waits: boolean): void {
  const runId = receipt?.runId ?? "";
  out.line(runId);
  const isOld = receipt?.outcome === Outcome.ADOPTED;
  const what = isOld ? `${runId} was started before with the same key` : `started ${runId}`;
  if (!waits) out.note(`${what}; watch it: pi-workflows watch ${runId}`);
  else if (isOld) out.note(what);
}

/** True also when somebody else answered first: the run goes on all the same. */
async function answered(cli: Cli, client: HostClient, view: RunView): Promise<boolean> {
  const asked = await askedOf(cli, client, view);
  if (asked.end === "closed") cli.out.note(asked.how);
  return asked.end !== "left";
}

async function askedOf(cli: Cli, client: HostClient, view: RunView): Promise<Asked | Decided> {
  const { interactionId = "", interactionKind } = view.summary ?? {};
  if (interactionKind === InteractionKind.HUMAN_DECISION) {
    const { decideAtTerminal } = await import("../decide-question.ts");
    return await decideAtTerminal(cli, client, { interactionId });
  }
  const { askPerson } = await import("../answer-question.ts");
  return await askPerson(cli, client, { interactionId });
}

function requestOf(args: Arguments, cli: Cli) {
  const given = args.required(0);
  const input = args.text("input");
  const priority = args.text("priority");
  const notBefore = notBeforeOf(args, cli.clock.now());
  return {
    command: newCommand(args.text("key")),
    workflow: isWorkflowPath(given) && !isAbsolute(given) ? resolve(cli.cwd, given) : given,
    projectDir: resolve(cli.cwd, args.text("project") ?? "."),
    priority: priority === undefined ? 0 : integer("priority", priority, PRIORITY),
    ...(input === undefined ? {} : { input: readValue("--input", input, cli.cwd) }),
    ...modelOf(args),
    ...(notBefore === undefined ? {} : { notBefore: timestampFromMs(notBefore) }),
  };
}

function modelOf(args: Arguments) {
  const provider = args.text("provider") ?? "";
  const model = args.text("model") ?? "";
  const list = args.list("pi-arg");
  if (provider === "" && model === "" && list.length === 0) return {};
  return { model: { provider, model, args: [...list] } };
}

function notBeforeOf(args: Arguments, now: number): number | undefined {
  const at = args.text("at");
  const delay = args.text("in");
  if (at !== undefined && delay !== undefined)
    throw new UsageError("--at and --in exclude each other");
  if (delay !== undefined) return now + parseDuration("in", delay);
  return at === undefined ? undefined : parseInstant("at", at, now);
}

function checkWatchOptions(args: Arguments): void {
  const wait = args.flag("wait");
  if (wait && args.flag("detach")) throw new UsageError("--wait and --detach exclude each other");
  const watching = watchLimit(args) !== undefined || args.flag("stay");
  if (watching && !wait) throw new UsageError("--timeout and --stay need --wait");
}
