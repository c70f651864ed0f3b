/** What `/workflow` does with workflows and runs. */
import { isAbsolute, resolve as resolvePath } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { jsonValue } from "../../client/json-value.ts";
import { Outcome } from "../../gen/piworkflows/common/v1/command_pb.ts";
import type { RunSummary } from "../../gen/piworkflows/common/v1/run_pb.ts";
import { SourcePolicy } from "../../gen/piworkflows/host/v1/run_choices_pb.ts";
import { systemClock } from "../../platform/clock.ts";
import { fromNow, safe, safeLines } from "../../platform/text.ts";
import { isWorkflowPath, listWorkflows } from "../../platform/workflow-files.ts";
import { headLine } from "../detail-lines.ts";
import { chooseRun } from "../dialogs.ts";
import { showRun } from "../run-details.ts";
import { plainPaint, runLine } from "../run-lines.ts";
import { hasEnded, msOf, RUN_STATUS, statusWords } from "../run-words.ts";
import { frontOf } from "../standing.ts";
import { ask, newCommand } from "../tool/call.ts";
import { startable } from "../trust.ts";
import { CommandError, PERSON } from "./call.ts";
import type { CommandCall } from "./call.ts";
import { knownId, shortId } from "./known-id.ts";

const RUNS_SHOWN = 10;
const STATUS_COLUMNS = 160;

type Fits = (run: RunSummary) => boolean;

export async function list(call: CommandCall): Promise<void> {
  const { place, now } = call;
  const workflows = listWorkflows(place.cwd).map(
    ({ name, origin, path }) => `  ${safe(name)} (${origin})  ${safe(path)}`,
  );
  const request = { projectDir: place.cwd, pageSize: RUNS_SHOWN };
  const { runs } = await ask(call, (clients, options) => clients.runs.listRuns(request, options));
  const lines = runs.map(
    (run) => `  ${headLine(run).text}  ${fromNow(msOf(run.updatedAt), now())}`,
  );
  say(call, [
    workflows.length === 0 ? "No workflows: put NAME.workflow.ts into .pi/workflows" : "Workflows:",
    ...workflows,
    lines.length === 0 ? "No runs in this project" : "Runs of this project:",
    ...lines,
  ]);
}

export async function start(call: CommandCall): Promise<void> {
  const { link, place, parsed } = call;
  if (parsed.target === "")
    throw new CommandError("usage: /workflow start WORKFLOW [JSON or text]");
  const isRelative = isWorkflowPath(parsed.target) && !isAbsolute(parsed.target);
  const given = isRelative ? resolvePath(place.cwd, parsed.target) : parsed.target;
  const request = {
    command: newCommand(PERSON),
    workflow: startable(given, place),
    projectDir: place.cwd,
    originSession: link.sessionId,
    allowDuplicate: parsed.flags.has("--allow-duplicate"),
    ...(parsed.rest === "" ? {} : { input: jsonValue(typedValue(parsed.rest)) }),
  };
  const response = await ask(call, ({ runs }, options) => runs.startRun(request, options));
  const runId = response.receipt?.runId ?? "";
  const isOld = response.receipt?.outcome === Outcome.ADOPTED;
  say(call, [
    isOld
      ? `${runId} runs already: it was started less than a minute ago (--allow-duplicate starts another)`
      : `started ${workflowName(parsed.target)} (${shortId(runId)})`,
    ...response.warnings.map(({ message }) => `warning: ${safeLines(message)}`),
  ]);
  if (place.sessionManager.getSessionFile() !== undefined) return;
  const warning =
    "This Pi keeps no session file: after you quit, the run cannot be continued here.";
  place.ui.notify(warning, "warning");
}

/** The runs of the session in lines, or all about one. */
export async function status(call: CommandCall): Promise<void> {
  const { link, parsed, now } = call;
  if (parsed.target !== "") return await watch(call, "rpc");
  const { runs = [], ended } = link.picture ?? {};
  const front = frontOf(link.picture);
  const frame = { width: STATUS_COLUMNS, now: now(), paint: plainPaint, front };
  const lines = [...runs, ...(ended === undefined ? [] : [ended])].map((run) => {
    const id = run.summary?.runId ?? "";
    return `${runLine(run, frame)}  ${id}`;
  });
  say(call, lines.length === 0 ? ["No runs in this session: /workflow list shows all"] : lines);
}

/** A screen that follows the run; in RPC, and for `status`, what it is now. */
export async function watch(call: CommandCall, mode = call.place.mode): Promise<void> {
  const runId = await runOf(call, "watch", { fits: () => true, withEnded: true });
  if (runId === undefined) return;
  const { link, place, signal } = call;
  await showRun({ link, place: { ui: place.ui, mode }, runId, signal, clock: systemClock });
}

export async function pause(call: CommandCall): Promise<void> {
  const runId = await runOf(call, "pause", { fits: (run) => !isStopped(run) });
  if (runId === undefined) return;
  const now = call.parsed.flags.has("--now");
  const request = { command: newCommand(PERSON), runId, now };
  const { run } = await ask(call, ({ runs }, options) => runs.pauseRun(request, options));
  sayChanged(call, run);
}

export async function cancel(call: CommandCall): Promise<void> {
  const runId = await runOf(call, "cancel", { fits: () => true });
  if (runId === undefined) return;
  const request = { command: newCommand(PERSON), runId, note: call.parsed.rest };
  const { run } = await ask(call, ({ runs }, options) => runs.cancelRun(request, options));
  sayChanged(call, run);
}

export async function restart(call: CommandCall): Promise<void> {
  const runId = await runOf(call, "restart", { fits: hasEnded, withEnded: true });
  if (runId === undefined) return;
  const request = { command: newCommand(PERSON), runId };
  const { receipt } = await ask(call, ({ runs }, options) => runs.restartRun(request, options));
  say(call, [`started ${receipt?.runId ?? ""} from the input of ${runId}`]);
}

/** Wakes are allowed again in any case; a run that the user's Esc has just paused goes on. */
export async function resume(call: CommandCall): Promise<void> {
  const { link, parsed, signal } = call;
  await turnClosed(call);
  const stopped = summaries(call).filter(isStopped);
  if (parsed.target === "" && stopped.length === 0) {
    link.allowWake();
    say(call, ["no run of this session is paused; steps may start turns again"]);
    return;
  }
  const runId = await runOf(call, "resume", { fits: isStopped });
  if (runId === undefined || signal.aborted) return;
  const request = { command: newCommand(PERSON), runId, sourcePolicy: policyOf(call) };
  const { run } = await ask(call, ({ runs }, options) => runs.resumeRun(request, options));
  link.allowWake();
  say(call, [`resumed: ${run === undefined ? runId : titleOf(run)}`]);
}

/**
 * Waits until the host has closed the turn that the user stopped. Before that the
 * run is not paused yet, and a resume would come too early. A turn that works on
 * another run is nobody's business here.
 */
async function turnClosed({ link, parsed, signal }: CommandCall): Promise<void> {
  const isSettling = (): boolean => {
    const { openTurn = "", runs = [] } = link.picture ?? {};
    if (openTurn === "" || link.state.kind !== "attached" || signal.aborted) return false;
    const wanted = runs.find(({ summary }) => summary?.runId === parsed.target);
    return wanted === undefined || wanted.summary?.status !== RUN_STATUS.paused;
  };
  if (!isSettling()) return;
  await new Promise<void>((resolve) => {
    const stop = link.onChange(() => {
      if (!isSettling()) end();
    });
    const limit = systemClock.after(TURN_WAIT_MS, () => end());
    const end = (): void => {
      stop();
      limit.cancel();
      resolve();
    };
  });
}

/** More than an aborted turn is held back, and than a host takes to hear of it. */
const TURN_WAIT_MS = 5_000;

async function runOf(
  call: CommandCall,
  verb: string,
  { fits, withEnded = false }: { readonly fits: Fits; readonly withEnded?: boolean },
): Promise<string | undefined> {
  const { parsed, place, signal } = call;
  if (parsed.target !== "") return knownId(call.link, parsed.target);
  const candidates = summaries(call, withEnded).filter(fits);
  const run = await chooseRun(place, candidates, { verb, signal });
  return run?.runId;
}

function summaries({ link }: CommandCall, withEnded = false): readonly RunSummary[] {
  const { runs = [], ended } = link.picture ?? {};
  const shown = withEnded && ended !== undefined ? [...runs, ended] : runs;
  return shown.flatMap(({ summary }) => (summary === undefined ? [] : [summary]));
}

function isStopped({ status: is }: RunSummary): boolean {
  return is === RUN_STATUS.paused || is === RUN_STATUS.blocked;
}

function policyOf({ parsed }: CommandCall): SourcePolicy {
  if (parsed.flags.has("--recorded-source")) return SourcePolicy.RECORDED;
  return parsed.flags.has("--accept-source") ? SourcePolicy.ACCEPT : SourcePolicy.UNSPECIFIED;
}

/** JSON if it is JSON; everything else is meant as text. */
function typedValue(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function sayChanged(call: CommandCall, run: RunSummary | undefined): void {
  if (run === undefined) return;
  const after = run.pauseRequested ? " (after the effect that is being applied)" : "";
  say(call, [`${run.runId} is ${statusWords(run).word}${after}: ${titleOf(run)}`]);
}

function titleOf({ title, workflow }: RunSummary): string {
  return safe(title === "" ? workflow : title);
}

/** A path is told by the name of its file. */
function workflowName(nameOrPath: string): string {
  const file = nameOrPath.split(/[/\\]/).at(-1) ?? nameOrPath;
  return safe(file.replace(/(?:\.workflow)?\.\w+$/, ""));
}

function say({ place }: CommandCall, lines: readonly string[]): void {
  place.ui.notify(lines.join("\n"), "info");
}
