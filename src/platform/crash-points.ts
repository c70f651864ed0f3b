/**
 * Named places at which a fault test lets a process die as if the power had gone.
 *
 * `PI_WORKFLOWS_CRASH=<name>[:<detail>][#<n>]` arms one point at its n-th hit
 * (the first by default); `PI_WORKFLOWS_CRASH_ONCE=<file>` lets only the first
 * process that gets there die, also when its successors inherit the environment.
 */
import { closeSync, openSync } from "node:fs";

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
  readonly name: string;
  readonly detail: string | undefined;
  readonly hit: number;
}

const armed = parse(process.env["PI_WORKFLOWS_CRASH"]);
let hits = 0;

/** Does nothing unless this very point is armed; then it does not return. */
export function crashPoint(name: CrashPoint, detail?: string): void {
  if (armed === undefined || armed.name !== name) return;
  if (armed.detail !== undefined && armed.detail !== detail) return;
  hits += 1;
  if (hits === armed.hit && isFirstProcess(process.env["PI_WORKFLOWS_CRASH_ONCE"])) die();
}

/** Whether this process, or one with the same environment, is to die at one of them. */
export function isCrashPointArmed(): boolean {
  return armed !== undefined;
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
  // The signal is on its way; not one more statement may run before it arrives.
  for (;;);
}

function isFirstProcess(file: string | undefined): boolean {
  if (file === undefined || file === "") return true;
  try {
    closeSync(openSync(file, "wx", 0o600));
    return true;
  } catch {
    return false;
  }
}

function parse(text: string | undefined): Armed | undefined {
  const match = /^([^:#]+)(?::([^#]+))?(?:#([1-9]\d*))?$/.exec(text ?? "");
  if (match === null) return undefined;
  const [, name = "", detail, hit = "1"] = match;
  return { name, detail, hit: Number(hit) };
}
