/**
 * Named places at which a fault test lets a process die as if the power had gone.
 *
 * `PI_WORKFLOWS_CRASH=<name>[:<detail>][#<n>]` arms a point at its n-th hit (the
 * first by default); several are parted by commas. `PI_WORKFLOWS_CRASH_ONCE=<folder>`
 * lets only the first process that gets to a point die of it, also when its
 * successors inherit the environment: it leaves a file with its pid there.
 * `PI_WORKFLOWS_CRASH_BY=SIGSTOP` freezes it there instead, until it is told to go on.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export const CRASH_POINTS = [
  /** Host: in the transaction, nothing is durable. Detail: the transition. */
  "commit.before",
  /** Host: durable, and nobody was told. Detail: the transition. */
  "commit.after",
  /** Host: durable and in memory, the answer is not sent. */
  "ack.before",
  /** Host: a child runs of which no row tells. */
  "spawn.after",
  /** Worker: the effect happened outside, its receipt is nowhere. */
  "effect.performed",
  /** Worker: the result exists in memory only. */
  "proposal.before",
  /** Worker: the proposal is sent, its answer has not been read. */
  "proposal.after",
  /** Host: between two steps of recovery. */
  "recovery.step",
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];

interface Armed {
  readonly text: string;
  readonly name: string;
  readonly detail: string | undefined;
  readonly hit: number;
  hits: number;
}

const armed = (process.env["PI_WORKFLOWS_CRASH"] ?? "").split(",").flatMap(parse);

/** Does nothing unless this very point is armed; then it does not return, or only once it is thawed. */
export function crashPoint(name: CrashPoint, detail?: string): void {
  for (const point of armed) {
    if (point.name !== name) continue;
    if (point.detail !== undefined && point.detail !== detail) continue;
    point.hits += 1;
    if (point.hits === point.hit && isFirstProcess(point.text)) die();
  }
}

/** Name of the file that the process leaves which dies at an armed point. */
export function crashMark(point: string): string {
  return `died-at-${point.replaceAll(/\W/g, "-")}`;
}

/** Whether this process, or one with the same environment, is to die at one of them. */
export function isCrashPointArmed(): boolean {
  return armed.length > 0;
}

function die(): void {
  if (process.env["PI_WORKFLOWS_CRASH_BY"] === "SIGSTOP") {
    process.kill(process.pid, "SIGSTOP");
    return;
  }
  process.kill(process.pid, "SIGKILL");
  // The signal is on its way; not one more statement may run before it arrives.
  for (;;);
}

function isFirstProcess(point: string): boolean {
  const folder = process.env["PI_WORKFLOWS_CRASH_ONCE"];
  if (folder === undefined || folder === "") return true;
  try {
    writeFileSync(join(folder, crashMark(point)), String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

function parse(text: string): readonly Armed[] {
  const match = /^([^:#]+)(?::([^#]+))?(?:#([1-9]\d*))?$/.exec(text);
  if (match === null) return [];
  const [, name = "", detail, hit = "1"] = match;
  return [{ text, name, detail, hit: Number(hit), hits: 0 }];
}
