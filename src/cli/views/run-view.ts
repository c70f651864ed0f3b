/** A run as a person wants to see it. */
import { durationMs } from "@bufbuild/protobuf/wkt";
import { EffectStatus } from "../../gen/piworkflows/common/v1/effect_pb.ts";
import type { Effect } from "../../gen/piworkflows/common/v1/effect_pb.ts";
import { RunMode, RunStatus } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary, RunView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import {
  duration,
  fromNow,
  localTime,
  plural,
  prettyJson,
  safe,
  safeLines,
} from "../../platform/text.ts";
import { valueJson } from "../../client/json-value.ts";
import { attemptLines } from "./attempts.ts";
import type { Frame } from "./attempts.ts";
import { modeWords, readCommand, waitingLines } from "./waiting.ts";
import { colourOf, effectWord, isTerminal, msOf, remedies, statusWord } from "./words.ts";

const INDENT = "  ";
const LABEL_CHARS = 10;

/** Everything about a run, for `show`. */
export async function runLines(view: RunView, frame: Frame): Promise<readonly string[]> {
  const run = view.summary;
  if (run === undefined) return [];
  const attempts = await attemptLines(view, frame);
  return [
    headline(run, frame),
    ...facts(view, run, frame),
    ...section("Nodes", attempts, frame),
    ...section("Effects", view.effects.map(effectLine), frame),
    ...stateLines(view, frame),
    ...section("Output", tail(view.outputTail), frame),
    ...endLines(view, frame),
  ];
}

/** Status, id and title. */
export function headline(run: RunSummary, { style }: Frame): string {
  const status = statusWord(run);
  const title = safe(run.title === "" ? run.workflow : run.title);
  return `${style(colourOf(status), status)}  ${style("bold", run.runId)}  ${title}`;
}

/** What the run waits for or is hindered by, and what can be done about it. */
export function stateLines(view: RunView, frame: Frame): readonly string[] {
  const run = view.summary;
  if (run === undefined) return [];
  return [...waitingLines(view, frame), ...hindranceLines(view, run, frame)];
}

/** The same without the question, for where that is asked right below. */
export function askedStateLines(view: RunView, frame: Frame): readonly string[] {
  const run = view.summary;
  return run === undefined ? [] : hindranceLines(view, run, frame);
}

function hindranceLines(view: RunView, run: RunSummary, frame: Frame): readonly string[] {
  return [...blockLines(view, run, frame), ...loopLines(run, frame), ...dueLines(run, frame)];
}

/** The last lines of a text, without what moves a cursor. */
export function tail(text: string, linesMax = 20): readonly string[] {
  if (text === "") return [];
  const lines = safeLines(text.replace(/\n$/, "")).split("\n").slice(-linesMax);
  return lines.map((line) => INDENT + line);
}

function facts(view: RunView, run: RunSummary, frame: Frame): readonly string[] {
  const { now } = frame;
  const created = msOf(run.createdAt);
  const finished = msOf(run.finishedAt);
  const began = created === undefined ? "" : `${localTime(created)} (${fromNow(created, now)})`;
  const took = finished === undefined || created === undefined ? undefined : finished - created;
  const pairs: readonly (readonly [string, string])[] = [
    ["workflow", `${safe(run.workflow)}  ${safe(view.workflowPath)}`],
    ["project", safe(run.projectDir)],
    ["mode", modeWords(run)],
    ["session", sessionWords(run, frame)],
    ["started", began],
    ["ended", finished === undefined ? "" : localTime(finished)],
    ["note", run.status === RunStatus.CANCELLED ? safe(run.detail) : ""],
    ["took", took === undefined ? "" : duration(took)],
    ["at", run.node === "" ? "" : `${safe(run.node)} after ${plural(run.steps, "visit")}`],
    ["from", view.restartedFrom],
    ["worker", workerWords(view, now)],
  ];
  return pairs
    .filter(([, value]) => value.trim() !== "")
    .map(([label, value]) => `${INDENT}${label.padEnd(LABEL_CHARS)}${value}`);
}

/** How to read what was said in the run's own session, once there is one. */
function sessionWords({ runId, mode }: RunSummary, { sessionFile }: Frame): string {
  return mode === RunMode.HEADLESS ? readCommand(sessionFile?.(runId)) : "";
}

function workerWords({ worker }: RunView, now: number): string {
  if (worker === undefined || worker.pid === 0) return "";
  const since = msOf(worker.startedAt);
  return `${worker.workerId} (pid ${worker.pid}${since === undefined ? "" : `, started ${fromNow(since, now)}`})`;
}

function blockLines(view: RunView, run: RunSummary, { style }: Frame): readonly string[] {
  const effects = isTerminal(run) ? [] : resolveLines(view);
  const commands = [...remedies(run), ...effects].map((line) => INDENT + line);
  if (commands.length === 0 && run.status !== RunStatus.BLOCKED) return [];
  const status = statusWord(run);
  const why = run.detail === "" ? status : `${status}: ${safeLines(run.detail)}`;
  const files = view.changedFiles.map((file) => `${INDENT}changed: ${safe(file)}`);
  return ["", style(colourOf(status), why), ...files, ...commands];
}

export function loopLines({ loopBlock }: RunSummary, { now, style }: Frame): readonly string[] {
  if (loopBlock === undefined) return [];
  const since = duration(now - (msOf(loopBlock.since) ?? now));
  const cpu = loopBlock.cpuTime === undefined ? 0 : durationMs(loopBlock.cpuTime);
  const text = `${safe(loopBlock.node)} has blocked its worker's loop for ${since} (${duration(cpu)} of processor time)`;
  return ["", style("yellow", text)];
}

function dueLines(run: RunSummary, { now }: Frame): readonly string[] {
  const due = msOf(run.dueAt);
  if (due === undefined || run.interactionId !== "" || run.finishedAt !== undefined) return [];
  if (due > now) return ["", `Goes on ${fromNow(due, now)} (${localTime(due)}).`];
  return ["", `Is due since ${localTime(due)} and goes on as soon as it gets its turn.`];
}

/** What to type for each effect whose outcome nobody knows. */
function resolveLines({ effects, summary }: RunView): readonly string[] {
  const unknown = effects.filter(({ status }) => status === EffectStatus.AMBIGUOUS);
  const canRetry = summary !== undefined && !isTerminal(summary);
  return unknown.flatMap(({ effectId, type, node }) => {
    const resolve = `pi-workflows effects resolve ${effectId}`;
    return [
      `nobody knows whether ${safe(type)} at ${safe(node)} happened; say it:`,
      `${resolve} --applied JSON   # it did; JSON is the node's output, for example null`,
      `${resolve} --not-applied    # it did not; the node counts as failed`,
      ...(canRetry ? [`${resolve} --retry          # do it again under the same key`] : []),
    ];
  });
}

/** Effects that a run left behind, and that a person should look at. */
export function leftoverLines(view: RunView, { style }: Frame): readonly string[] {
  if (view.summary === undefined || !isTerminal(view.summary)) return [];
  const lines = resolveLines(view).map((line) => INDENT + line);
  if (lines.length === 0) return [];
  return ["", style("magenta", "The run ended with an effect whose outcome is unknown"), ...lines];
}

/** The result or the error of a run that has ended, and what it left open. */
export function endLines(view: RunView, frame: Frame): readonly string[] {
  return [...outcomeLines(view, frame), ...leftoverLines(view, frame)];
}

function outcomeLines(view: RunView, frame: Frame): readonly string[] {
  const { error, result } = view;
  if (error !== undefined) {
    const stack = error.stack === "" ? [] : safeLines(error.stack).split("\n");
    const text = safeLines(error.name === "" ? error.message : `${error.name}: ${error.message}`);
    // A stack begins with the message; only its frames are new.
    const frames = stack.filter((line) => /^\s+at /.test(line));
    return section(
      "Error",
      [...text.split("\n"), ...frames].map((line) => INDENT + line),
      frame,
    );
  }
  if (result === undefined) return [];
  const cutHint = view.resultTruncated
    ? [`${INDENT}… whole: pi-workflows show ${view.summary?.runId ?? ""} --result`]
    : [];
  const json = valueJson(result);
  const text =
    view.resultTruncated && typeof json === "string" ? safeLines(json) : prettyJson(json);
  return section("Result", [...text.split("\n").map((line) => INDENT + line), ...cutHint], frame);
}

export function effectLine(effect: Effect): string {
  const detail = effect.detail === "" ? "" : `  ${safe(effect.detail)}`;
  return `${INDENT}${effectWord(effect.status)}  ${effect.effectId}  ${safe(effect.type)} at ${safe(effect.node)}${detail}`;
}

function section(title: string, lines: readonly string[], { style }: Frame): readonly string[] {
  return lines.length === 0 ? [] : ["", style("bold", title), ...lines];
}
