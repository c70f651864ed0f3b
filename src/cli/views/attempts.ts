/** The nodes of a run, one line for each attempt. */
import type { Attempt } from "../../gen/piworkflows/common/v1/attempt_pb.ts";
import { RunStatus } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { RunView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { Style } from "../output.ts";
import { table } from "../table.ts";
import { duration, safe } from "../../platform/text.ts";
import { attemptWordIn, colourOf, msOf } from "./words.ts";

export interface Frame {
  /** Wall-clock milliseconds. */
  readonly now: number;
  readonly columns: number;
  readonly style: Style;
  /** The file of a headless run's session, where there is one already. */
  readonly sessionFile?: (runId: string) => string | undefined;
}

const INDENT = "  ";

/** Lines for the newest attempts, oldest first; at most `count` of them. */
export async function attemptLines(
  view: RunView,
  frame: Frame,
  count = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const shown = view.attempts.slice(-count);
  const rows = shown.map((attempt) => [
    attemptWordIn(view.summary, attempt),
    safe(attempt.node),
    ordinals(attempt),
    isHeld(attempt, view) ? "" : elapsed(attempt, frame.now),
    note(attempt, view),
  ]);
  const lines = await table(rows, { columns: frame.columns - INDENT.length, right: [3] });
  return lines.map((line, index) => {
    const status = rows[index]?.[0] ?? "";
    return INDENT + frame.style(colourOf(status), status) + line.slice(status.length);
  });
}

/** How long an attempt took, or has taken. */
export function elapsed({ startedAt, finishedAt }: Attempt, now: number): string {
  const from = msOf(startedAt);
  return from === undefined ? "" : duration((msOf(finishedAt) ?? now) - from);
}

/** No clock runs for a node whose run a person must help on. */
function isHeld({ finishedAt }: Attempt, { summary }: RunView): boolean {
  return finishedAt === undefined && summary?.status === RunStatus.BLOCKED;
}

/** Which visit and which try, where it is not the first. */
export function ordinals({ visit, attempt }: Attempt): string {
  const parts = [visit > 1 ? `visit ${visit}` : "", attempt > 1 ? `try ${attempt}` : ""];
  return parts.filter((part) => part !== "").join(", ");
}

function note(attempt: Attempt, view: RunView): string {
  if (attempt.error !== undefined) {
    const { name, message } = attempt.error;
    return safe(name === "" ? message : `${name}: ${message}`);
  }
  if (attempt.finishedAt !== undefined) return "";
  const progress = view.progress.find(({ node }) => node === attempt.node);
  const from = msOf(attempt.startedAt) ?? 0;
  // An update of an earlier visit says nothing about this one.
  const isNew = progress !== undefined && (msOf(progress.at) ?? 0) >= from;
  return safe(isNew ? progress.text : (view.summary?.statusDetail ?? ""));
}
