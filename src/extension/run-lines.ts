/** Runs as lines of a widget. Pure: the same picture, width and time make the same lines. */
import { visibleWidth } from "@earendil-works/pi-tui";
import type { RunSummary } from "../gen/piworkflows/common/v1/run_pb.ts";
import type { AttachResponse, SessionRun } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import { duration, fromNow, safe } from "../platform/text.ts";
import { cutColumns, fitLine } from "./columns.ts";
import { hasEnded, INTERACTION_KIND, msOf, RUN_STATUS, statusWords } from "./run-words.ts";
import type { Role } from "./run-words.ts";

export type Paint = (role: Role, text: string) => string;

export interface LineFrame {
  /** Columns of the terminal; no line is wider. */
  readonly width: number;
  /** Wall-clock milliseconds. */
  readonly now: number;
  readonly paint: Paint;
}

/** For places without colours. */
export const plainPaint: Paint = (_role, text) => text;

/** Pi cuts a widget below that. */
export const WIDGET_LINES_MAX = 10;
/** How long a run that has ended stays on the screen. */
export const ENDED_SHOWN_MS = 60_000;

const GAP = " · ";
/** A piece that is shown whole, in its short form or not at all. */
const NEVER = Number.POSITIVE_INFINITY;

type Pictured = Pick<AttachResponse, "runs" | "ended">;

/** One line for each run that has not ended, and one for the run that ended just now. */
export function widgetLines(
  picture: Pictured | undefined,
  frame: LineFrame,
  dismissed?: string,
): readonly string[] {
  if (picture === undefined) return [];
  const shown = [...picture.runs, ...endedRuns(picture, frame.now, dismissed)];
  const lines = shown.flatMap((run) => {
    const line = runLine(run, frame);
    return line === "" ? [] : [line];
  });
  if (lines.length <= WIDGET_LINES_MAX) return lines;
  const more = lines.length - (WIDGET_LINES_MAX - 1);
  const rest = frame.paint(
    "muted",
    cutColumns(`… and ${more} more: /workflow status`, frame.width),
  );
  return [...lines.slice(0, WIDGET_LINES_MAX - 1), rest];
}

/** When the line of an ended run is to go; absent when none is shown. */
export function endedUntil(picture: Pictured | undefined): number | undefined {
  const finished = msOf(picture?.ended?.summary?.finishedAt);
  return finished === undefined ? undefined : finished + ENDED_SHOWN_MS;
}

/** One run in one line; empty when the host told nothing about it. */
export function runLine(run: SessionRun, { width, now, paint }: LineFrame): string {
  const { summary } = run;
  if (summary === undefined) return "";
  const { sign, role } = statusWords(summary);
  const cells = squeezed(cellsOf(run, summary, now), width - visibleWidth(sign) - 1);
  const body = cells.map((cell) => paint(cell.role, cell.text)).join(paint("dim", GAP));
  return fitLine(`${paint(role, sign)} ${body}`, width);
}

/** A run that ended is news for a minute, until it is cleared or the next one starts. */
function endedRuns(
  picture: Pictured,
  now: number,
  dismissed: string | undefined,
): readonly SessionRun[] {
  const { ended } = picture;
  const until = endedUntil(picture);
  if (ended === undefined || until === undefined || now >= until) return [];
  if (ended.summary?.runId === dismissed) return [];
  const finished = until - ENDED_SHOWN_MS;
  const isOld = picture.runs.some(({ summary }) => (msOf(summary?.createdAt) ?? 0) > finished);
  return isOld ? [] : [ended];
}

/** A piece of a line. The piece with the lowest `rank` gives way first, down to `min` columns. */
interface Cell {
  readonly text: string;
  readonly role: Role;
  readonly rank: number;
  readonly min: number;
  /** What is left of it when even `min` columns are not there. */
  readonly short: string;
}

function cellsOf(run: SessionRun, summary: RunSummary, now: number): readonly Cell[] {
  const title = safe(summary.title === "" ? summary.workflow : summary.title);
  const node = safe(summary.node);
  const step = summary.steps > 0 && node !== "" ? `${node} (step ${summary.steps})` : node;
  const doing = doingWords(run, summary, now);
  const update = hasEnded(summary) ? "" : safe(run.update);
  const cells: readonly Cell[] = [
    { text: title, role: "text", rank: 4, min: 12, short: cutColumns(title, 6) },
    { text: hasEnded(summary) ? "" : step, role: "muted", rank: 3, min: NEVER, short: node },
    { text: doing, role: doingRole(summary), rank: 5, min: 16, short: cutColumns(doing, 16) },
    { text: update, role: "muted", rank: 1, min: 10, short: "" },
    { text: elapsed(summary, now), role: "dim", rank: 2, min: NEVER, short: "" },
  ];
  return cells.filter(({ text }) => text !== "");
}

/** What keeps the run, in the words that matter most to whoever looks. */
function doingWords(run: SessionRun, summary: RunSummary, now: number): string {
  switch (summary.status) {
    case RUN_STATUS.paused:
      return "paused: /workflow resume";
    case RUN_STATUS.blocked:
      return `blocked: ${safe(summary.detail)}`;
    case RUN_STATUS.waiting:
      return waitingWords(run, summary) || dueWords(summary, now, "goes on") || "waiting";
    case RUN_STATUS.queued:
      return waitingWords(run, summary) || dueWords(summary, now, "starts") || "queued";
    case RUN_STATUS.running:
    case RUN_STATUS.starting:
      return summary.pauseRequested
        ? "pausing"
        : waitingWords(run, summary) || safe(summary.statusDetail);
    default:
      return endWords(summary);
  }
}

/** Empty for a run that waits for time alone: when it goes on says more. */
function waitingWords(run: SessionRun, summary: RunSummary): string {
  const what = safe(run.waitsFor);
  if (what === "" || (summary.interactionId === "" && summary.dueAt !== undefined)) return "";
  if (run.behind) return `waits for ${what} (another request comes first)`;
  return `waits for ${what}${HINTS[summary.interactionKind] ?? ""}`;
}

/** What the user can type where it is the user who is waited for. */
const HINTS: Readonly<Record<number, string>> = {
  [INTERACTION_KIND.human_decision]: ": /workflow decide",
  [INTERACTION_KIND.checkpoint]: ": /workflow answer",
};

function dueWords(summary: RunSummary, now: number, verb: string): string {
  const due = msOf(summary.dueAt);
  return due === undefined || due <= now ? "" : `${verb} ${fromNow(due, now)}`;
}

function endWords(summary: RunSummary): string {
  const { word } = statusWords(summary);
  return summary.detail === "" ? word : `${word}: ${safe(summary.detail)}`;
}

function doingRole(summary: RunSummary): Role {
  const isForPerson =
    summary.status === RUN_STATUS.waiting &&
    summary.interactionKind === INTERACTION_KIND.human_decision;
  return isForPerson ? "warning" : statusWords(summary).role;
}

/** How long it has run, or took. */
function elapsed(summary: RunSummary, now: number): string {
  const created = msOf(summary.createdAt);
  return created === undefined ? "" : duration((msOf(summary.finishedAt) ?? now) - created);
}

/** Makes cells give way, the least important first, until they fit. */
function squeezed(cells: readonly Cell[], width: number): readonly Cell[] {
  let left = cells;
  for (const cell of cells.toSorted((one, other) => one.rank - other.rank)) {
    const excess = widthOf(left) - width;
    if (excess <= 0) break;
    const room = visibleWidth(cell.text) - excess;
    const text = room >= cell.min ? cutColumns(cell.text, room) : cell.short;
    left = left.flatMap((one) => (one === cell ? (text === "" ? [] : [{ ...cell, text }]) : [one]));
  }
  return left;
}

function widthOf(cells: readonly Cell[]): number {
  const gaps = GAP.length * Math.max(0, cells.length - 1);
  return cells.reduce((sum, { text }) => sum + visibleWidth(text), gaps);
}
