/**
 * The words and signs of runs. The numbers of the protocol stand here as numbers,
 * so that drawing a line loads no protocol code; a test holds them to the protocol.
 */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { RunSummary } from "../gen/piworkflows/common/v1/run_pb.ts";

/** What a piece of text means; the theme or nothing gives it its colour. */
export type Role = "accent" | "text" | "muted" | "dim" | "success" | "warning" | "error";

export interface StyledLine {
  readonly role: Role;
  readonly text: string;
  readonly bold?: boolean;
}

/** What lines need of Pi's theme. */
export interface Painter {
  fg(role: Role, text: string): string;
  bold(text: string): string;
}

export function paintLine({ role, text, bold }: StyledLine, painter: Painter): string {
  return painter.fg(role, bold === true ? painter.bold(text) : text);
}

interface StatusWords {
  readonly word: string;
  readonly sign: string;
  readonly role: Role;
}

export const RUN_STATUS = {
  queued: 1,
  starting: 2,
  running: 3,
  waiting: 4,
  paused: 5,
  blocked: 6,
  completed: 7,
  failed: 8,
  timed_out: 9,
  cancelled: 10,
} as const;

export const INTERACTION_KIND = { checkpoint: 1, agent: 2, reply: 3, human_decision: 4 } as const;

export const DELIVERY = { waiting: 1, offered: 2, delivered: 3, working: 4, held: 5 } as const;

const SIGNS: Readonly<Record<keyof typeof RUN_STATUS, readonly [string, Role]>> = {
  queued: ["○", "muted"],
  starting: ["○", "accent"],
  running: ["▶", "accent"],
  waiting: ["◇", "accent"],
  paused: ["‖", "warning"],
  blocked: ["!", "warning"],
  completed: ["✓", "success"],
  failed: ["✗", "error"],
  timed_out: ["✗", "error"],
  cancelled: ["⊘", "muted"],
};
const ATTEMPTS: readonly (readonly [string, Role])[] = [
  ["unknown", "muted"],
  ["running", "accent"],
  ["waiting", "accent"],
  ["ok", "success"],
  ["failed", "error"],
  ["timed_out", "error"],
  ["interrupted", "warning"],
  ["cancelled", "muted"],
];
const UNKNOWN: StatusWords = { word: "unknown", sign: "?", role: "muted" };

/** "waiting", "timed_out"; a pause that waits for an effect is told as such. */
export function statusWords(run: Pick<RunSummary, "status" | "pauseRequested">): StatusWords {
  const words = wordsOf(wordOfStatus(run.status));
  return run.pauseRequested ? { ...words, word: "pausing" } : words;
}

/** Words of a status by its name, for what only the name is left of. */
export function wordsOf(name: string): StatusWords {
  if (!isStatus(name)) return UNKNOWN;
  const [sign, role] = SIGNS[name];
  return { word: name, sign, role };
}

/** "ok", "timed_out" of an attempt. */
export function attemptWord(status: number): Omit<StatusWords, "sign"> {
  const [word, role] = ATTEMPTS[status] ?? ["unknown", "muted"];
  return { word, role };
}

/** True for a run that has ended. */
export function hasEnded({ status }: Pick<RunSummary, "status">): boolean {
  return status >= RUN_STATUS.completed;
}

/** The name of a kind of request, as the workflow file spells it. */
export function kindName(kind: number): string {
  return nameIn(INTERACTION_KIND, kind);
}

/** Wall-clock milliseconds; absent without a time. */
export function msOf(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : Number(time.seconds) * 1_000 + time.nanos / 1_000_000;
}

/** The name of a status, as the protocol spells it in small letters. */
export function wordOfStatus(status: number): string {
  return nameIn(RUN_STATUS, status);
}

function nameIn(table: Readonly<Record<string, number>>, value: number): string {
  return Object.entries(table).find(([, number]) => number === value)?.[0] ?? "unknown";
}

function isStatus(name: string): name is keyof typeof RUN_STATUS {
  return Object.hasOwn(RUN_STATUS, name);
}
