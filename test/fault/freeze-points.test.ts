// The same as crash-points.test.ts with a process that stands still instead of dying: at each point it
// stops for longer than a lease and then goes on, as if nothing had been. A worker is replaced
// meanwhile and hears so; a host goes on where it was, with everybody who waited for it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { crashMark } from "../../src/platform/crash-points.ts";
import { stateOf } from "../../src/platform/process-identity.ts";
import { once, VOYAGES } from "../support/death-table.ts";
import { armedFrom, VOYAGE_MS } from "../support/deaths.ts";
import { JOURNEYS } from "../support/journeys.ts";
import { endingOf, Voyage } from "../support/voyage.ts";
import type { CleanUp } from "../support/real-host.ts";

const SHORT_LEASE = { PI_WORKFLOWS_CLAIM_MS: "3000", PI_WORKFLOWS_CRASH_BY: "SIGSTOP" };
/** Of a worker: until its claim has run out and it was ended. A host's own lease stands still with it. */
const FROZEN_MS = { worker: 6_000, host: 500 };
const LOOK_MS = 50;

describe.concurrent("a process that stands still for a while at", () => {
  test.for(VOYAGES)(
    "$title changes nothing",
    { timeout: VOYAGE_MS },
    async ({ armed, death }, { onTestFinished: cleanUp }) => {
      const { on, host = 1, mayRepeat = [] } = death;
      const arms = armedFrom(host, armed);
      const voyage = new Voyage({
        cleanUp,
        env: (number, self) => ({ ...arms(number, self), ...SHORT_LEASE }),
      });
      const stood = thaw(voyage, armed, cleanUp);
      const marks = armed.map((point) => join(voyage.project, crashMark(point)));
      const runId = await JOURNEYS[on].go(voyage, marks);
      await voyage.untilDead(marks);
      await voyage.expectSound(runId);
      expect([...stood].toSorted()).toEqual(armed.toSorted());
      expect(endingOf(await voyage.view(runId))).toEqual(JOURNEYS[on].ending);
      const effects = voyage.effects(runId);
      for (const key of mayRepeat) effects[key] = once(effects[key], armed.length + 1);
      expect(effects).toEqual(JOURNEYS[on].effects);
    },
  );
});

/**
 * Lets every process go on that has stood still at its point for long enough;
 * returns the points at which one was seen to do so.
 */
function thaw(voyage: Voyage, armed: readonly string[], cleanUp: CleanUp): ReadonlySet<string> {
  const stood = new Set<string>();
  const over = new AbortController();
  cleanUp(() => over.abort());
  for (const point of armed) void thawAt(point);
  return stood;

  async function thawAt(point: string): Promise<void> {
    const mark = join(voyage.project, crashMark(point));
    const isWorkers = point.startsWith("effect") || point.startsWith("proposal");
    const pid = (): number => (existsSync(mark) ? Number(readFileSync(mark, "utf8")) : 0);
    while (!over.signal.aborted && stateOf(pid()) !== "T") await sleep(LOOK_MS);
    if (over.signal.aborted) return;
    stood.add(point);
    await sleep(FROZEN_MS[isWorkers ? "worker" : "host"]);
    if (stateOf(pid()) === "T") process.kill(pid(), "SIGCONT");
  }
}
