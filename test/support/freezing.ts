/** Processes that stand still at their points for a while instead of dying there. */
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { stateOf } from "../../src/platform/process-identity.ts";
import type { CleanUp } from "./real-host.ts";
import type { Voyage } from "./voyage.ts";

export const FREEZING = { PI_WORKFLOWS_CRASH_BY: "SIGSTOP" };
/** Of a worker: until its claim has run out and it was ended. A host's own lease stands still with it. */
const FROZEN_MS = { worker: 6_000, host: 500 };
const LOOK_MS = 50;

/**
 * Lets every process go on that has stood still at its point for long enough;
 * returns the points at which one was seen to do so.
 */
export function thaw(
  voyage: Voyage,
  armed: readonly string[],
  cleanUp: CleanUp,
): ReadonlySet<string> {
  const stood = new Set<string>();
  const over = new AbortController();
  cleanUp(() => over.abort());
  for (const point of armed) void thawAt(point);
  return stood;

  async function thawAt(point: string): Promise<void> {
    const mark = voyage.markOf(point);
    const isWorkers = point.startsWith("effect") || point.startsWith("proposal");
    const pid = (): number => (existsSync(mark) ? Number(readFileSync(mark, "utf8")) : 0);
    while (!over.signal.aborted && stateOf(pid()) !== "T") await sleep(LOOK_MS);
    if (over.signal.aborted) return;
    stood.add(point);
    await sleep(FROZEN_MS[isWorkers ? "worker" : "host"]);
    if (stateOf(pid()) === "T") process.kill(pid(), "SIGCONT");
  }
}
