/** Runs as lines of a widget. Pure: the same picture, width and time make the same lines. */
import { visibleWidth } from "@earendil-works/pi-tui";
import type { RunSummary } from "../gen/piworkflows/common/v1/run_pb.ts";
import type { AttachResponse, SessionRun } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import { duration, safe } from "../platform/text.ts";
import { cutColumns, fitLine } from "./columns.ts";
import { doingOf } from "./doing-words.ts";
import { hasEnded, msOf, statusWords } from "./run-words.ts";
import type { Role } from "./run-words.ts";
import { frontOf, needsYou, signOf } from "./standing.ts";

export type Paint = (role: Role, text: string) => string;

export interface LineFrame {
  /** Columns of the terminal; no line is wider. */
  readonly width: number;
  /** Wall-clock milliseconds. */
  readonly now: number;
  readonly paint: Paint;
  /** The run whose request is the one that is open in the session. */
  readonly front?: RunSummary | undefined;
}

/** For places without colours. */
export const plainPaint: Paint = (_role, text) => text;

/** Pi cuts a widget below that. */
export const WIDGET_LINES_MAX = 10;
/** How long a run that has ended stays on the screen. */
export const ENDED_SHOWN_MS = 60_000;

const GAP = " · ";
/** So much of a title tells its run from others. */
const TITLE_KEPT = 24;
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
  const whole = { ...frame, front: frontOf(picture) };
  const lines = shown.flatMap((run) => {
    const line = runLine(run, whole);
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
export function runLine(run: SessionRun, frame: LineFrame): string {
  const { summary } = run;
  if (summary === undefined) return "";
  const { width, paint } = frame;
  const { sign, role } = signOf(run, summary);
  const cells = squeezed(cellsOf(run, summary, frame), width - visibleWidth(sign) - 1);
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
  /** What is left of it when even `min` columns are not there: the first that fits, else the last. */
  readonly shorts: readonly string[];
  /** Columns that pieces of higher ranks give up before this one does. */
  readonly spared?: number;
}

function cellsOf(run: SessionRun, summary: RunSummary, frame: LineFrame): readonly Cell[] {
  const title = safe(summary.title === "" ? summary.workflow : summary.title);
  const node = safe(summary.node);
  const step = summary.steps > 0 && node !== "" ? `${node} (step ${summary.steps})` : node;
  const update = hasEnded(summary) ? "" : safe(run.update);
  const cells: readonly Cell[] = [
    { text: title, role: "text", rank: 5, min: 12, shorts: [cutColumns(title, 6)] },
    { text: hasEnded(summary) ? "" : step, role: "muted", rank: 3, min: NEVER, shorts: [node] },
    doingCell(run, summary, frame),
    { text: update, role: "muted", rank: 1, min: 10, shorts: [] },
    { text: elapsed(summary, frame.now), role: "dim", rank: 2, min: NEVER, shorts: [] },
  ];
  return cells.filter(({ text }) => text !== "");
}

/** Its words get shorter before the title loses more than nobody misses. */
function doingCell(run: SessionRun, summary: RunSummary, frame: LineFrame): Cell {
  const { text, shorts } = doingOf(run, summary, frame);
  const role = needsYou(run) ? "warning" : statusWords(summary).role;
  const title = summary.title === "" ? summary.workflow : summary.title;
  const spared = Math.max(0, visibleWidth(safe(title)) - TITLE_KEPT);
  const cell = { text, role, rank: 4, spared };
  return shorts.length === 0
    ? { ...cell, min: 16, shorts: [cutColumns(text, 16)] }
    : { ...cell, min: NEVER, shorts };
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
    const room = visibleWidth(cell.text) - excess + (cell.spared ?? 0);
    const text = cutTo(cell, room);
    left = left.flatMap((one) => (one === cell ? (text === "" ? [] : [{ ...cell, text }]) : [one]));
  }
  return left;
}

function cutTo({ text, min, shorts }: Cell, room: number): string {
  if (room >= min || room >= visibleWidth(text)) return cutColumns(text, room);
  return shorts.find((short) => visibleWidth(short) <= room) ?? shorts.at(-1) ?? "";
}

function widthOf(cells: readonly Cell[]): number {
  const gaps = GAP.length * Math.max(0, cells.length - 1);
  return cells.reduce((sum, { text }) => sum + visibleWidth(text), gaps);
}
