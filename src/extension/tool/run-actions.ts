/** What the tool does with workflows and runs. */
import { jsonValue } from "../../client/json-value.ts";
import { Outcome as Done } from "../../gen/piworkflows/common/v1/command_pb.ts";
import type { Problem } from "../../gen/piworkflows/common/v1/error_pb.ts";
import type { RunSummary } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { StartRunResponse } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { fromNow, safe, safeLines } from "../../platform/text.ts";
import { listWorkflows } from "../../platform/workflow-files.ts";
import { detailLines, headLine } from "../detail-lines.ts";
import { requireConsent } from "../project-consent.ts";
import { msOf, statusWords } from "../run-words.ts";
import { startable } from "../trust.ts";
import { ArgumentError, required, unquoted } from "./arguments.ts";
import { ask, newCommand } from "./call.ts";
import type { ToolCall } from "./call.ts";
import { done } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";

const RUNS_SHOWN = 10;
const WORKFLOWS_SHOWN = 40;
const CLIENT = "pi-tool";

export async function list(call: ToolCall): Promise<Outcome> {
  const { cwd } = call.place;
  const workflows = listWorkflows(cwd);
  const trusted = call.place.isProjectTrusted();
  const shown = workflows.slice(0, WORKFLOWS_SHOWN).map(({ name, origin, path }) => {
    const hint = origin === "project" && !trusted ? ", project not trusted: cannot start" : "";
    return `- ${safe(name)} (${origin}${hint}) ${safe(path)}`;
  });
  const more = workflows.length - shown.length;
  const lines = [
    workflows.length === 0
      ? "No workflows: put NAME.workflow.ts into .pi/workflows."
      : "Workflows:",
    ...shown,
    ...(more > 0 ? [`… and ${more} more`] : []),
    "",
    ...(await recentRuns(call)),
  ];
  return done(`${workflows.length} workflows`, lines.join("\n"));
}

export async function start(call: ToolCall): Promise<Outcome> {
  const { args, link, place } = call;
  refuseInHeadless(call);
  const name = required(args, "workflow");
  const workflow = startable(name, place);
  await requireConsent(link, { workflow: name, place, signal: call.signal });
  const request = {
    command: newCommand(CLIENT),
    workflow,
    projectDir: place.cwd,
    originSession: link.sessionId,
    allowDuplicate: args.allowDuplicate === true,
    ...(args.input === undefined ? {} : { input: jsonValue(unquoted(args.input)) }),
  };
  let tries = 0;
  const response = await ask(call, async ({ runs }, options) => {
    tries += 1;
    return await runs.startRun(request, options);
  });
  // A repeat after a lost reply finds the run that this very call has started.
  return started(call, response, tries === 1);
}

export async function status(call: ToolCall): Promise<Outcome> {
  const given = call.args.run?.trim() ?? "";
  if (given === "") {
    const lines = await recentRuns(call);
    return done(lines[0] ?? "", lines.join("\n"));
  }
  const { run } = await ask(call, ({ runs }, options) => runs.getRun({ runId: given }, options));
  if (run?.summary === undefined) throw new ArgumentError(`There is no run ${given}.`);
  const lines = detailLines(run, call.now).map(({ text }) => text);
  return done(headLine(run.summary).text, lines.join("\n"));
}

export async function pause(call: ToolCall): Promise<Outcome> {
  const request = { command: newCommand(CLIENT), runId: required(call.args, "run") };
  const { run } = await ask(call, ({ runs }, options) => runs.pauseRun(request, options));
  const isPending = run?.pauseRequested === true;
  return changed(run, isPending ? "It pauses once the effect being applied is done." : "");
}

export async function resume(call: ToolCall): Promise<Outcome> {
  const request = { command: newCommand(CLIENT), runId: required(call.args, "run") };
  const { run } = await ask(call, ({ runs }, options) => runs.resumeRun(request, options));
  return changed(run, "");
}

export async function cancel(call: ToolCall): Promise<Outcome> {
  const { args } = call;
  const command = newCommand(CLIENT);
  const request = { command, runId: required(args, "run"), note: args.text ?? "" };
  const { run } = await ask(call, ({ runs }, options) => runs.cancelRun(request, options));
  return changed(run, "");
}

export async function restart(call: ToolCall): Promise<Outcome> {
  refuseInHeadless(call);
  const request = { command: newCommand(CLIENT), runId: required(call.args, "run") };
  const { receipt, warnings } = await ask(call, ({ runs }, options) =>
    runs.restartRun(request, options),
  );
  const runId = receipt?.runId ?? "";
  const text = [`Started ${runId} from the workflow and input of ${request.runId}.`];
  return done(`started ${runId}`, [...text, ...warningLines(warnings)].join("\n"));
}

/** A step of a headless run does its work; it does not start other runs. */
function refuseInHeadless({ link, args }: ToolCall): void {
  const own = link.picture?.headlessRunId ?? "";
  if (own === "") return;
  throw new ArgumentError(
    `This session belongs to ${own} alone: action ${args.action} is refused.`,
  );
}

function started(
  { place }: ToolCall,
  { receipt, warnings }: StartRunResponse,
  isFirstTry: boolean,
): Outcome {
  const runId = receipt?.runId ?? "";
  const isOld = receipt?.outcome === Done.ADOPTED && isFirstTry;
  const unsaved = place.sessionManager.getSessionFile() === undefined;
  const lines = [
    isOld
      ? `${runId} runs already: the same workflow with the same input was started from this session ` +
        "less than a minute ago. Only if the user wants a second run, start with allowDuplicate true."
      : `Started ${runId}. Its steps and its result come into this session by themselves, as ` +
        "messages: go on or end your turn, and do not poll.",
    ...(unsaved
      ? [
          "Warning: this Pi keeps no session file, so the run cannot be continued here after quitting.",
        ]
      : []),
    ...warningLines(warnings),
  ];
  return done(`${isOld ? "runs already" : "started"} ${runId}`, lines.join("\n"));
}

function changed(run: RunSummary | undefined, hint: string): Outcome {
  if (run === undefined) return done("done", "Done.");
  const line = `${run.runId} is ${statusWords(run).word}: ${safe(run.title)}`;
  return done(line, hint === "" ? line : `${line}\n${hint}`);
}

/** The newest runs of the project; the first line says how many. */
async function recentRuns(call: ToolCall): Promise<readonly string[]> {
  const request = { projectDir: call.place.cwd, pageSize: RUNS_SHOWN };
  const { runs, nextPageToken } = await ask(call, (clients, options) =>
    clients.runs.listRuns(request, options),
  );
  if (runs.length === 0) return ["No runs in this project."];
  const head = nextPageToken === "" ? "Runs of this project:" : "The newest runs of this project:";
  return [head, ...runs.map((run) => summaryLine(run, call))];
}

function summaryLine(run: RunSummary, { link, now }: ToolCall): string {
  const place = run.node === "" ? "" : ` at ${safe(run.node)}`;
  const here = run.originSession === link.sessionId ? ", this session" : "";
  const waits = run.interactionId === "" ? "" : `, waits with ${run.interactionId}`;
  const changedAt = fromNow(msOf(run.updatedAt), now);
  return `- ${headLine(run).text}${place} (${changedAt}${here}${waits})`;
}

function warningLines(warnings: readonly Problem[]): readonly string[] {
  return warnings.map(({ message, place }) => {
    const at = place === "" || message.includes(place) ? "" : ` (${safe(place)})`;
    return `Warning: ${safeLines(message)}${at}`;
  });
}
