import { describe, expect, test } from "vitest";
import type { Store } from "../../src/host/store/store.ts";
import type { RunRecord } from "../../src/host/records.ts";
import { attemptRecord, eventRecord, putRunning } from "../support/records.ts";
import { openTestStore } from "../support/test-store.ts";
import { report } from "./report.ts";
import { median } from "./statistics.ts";

const RUNS = 16;
const TRANSITIONS = 800;
const ROUNDS = 3;
/** What sixteen writes in one COMMIT must be worth at least, against one COMMIT each. */
const GAIN_MIN = 2.5;

// Absolute numbers depend on the disk and on who else uses it; the ratio of two
// measurements taken in turn does not, or hardly.
describe("group commit", () => {
  test(`of ${RUNS} writes at a time is worth at least ${GAIN_MIN} of one at a time`, async () => {
    const single: number[] = [];
    const grouped: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      single.push(await transitionsPerSecond(1));
      grouped.push(await transitionsPerSecond(RUNS));
    }
    const line = report({
      measure: `group commit at the store, ${RUNS} writes per COMMIT against one`,
      value: median(grouped) / median(single),
      unit: "x",
      bound: { is: "at least", value: GAIN_MIN },
      reference: `${rounded(grouped)}/s against ${rounded(single)}/s, synchronous FULL`,
    });
    expect(line).toMatchObject({ reached: true });
  });
});

async function transitionsPerSecond(atOnce: number): Promise<number> {
  const { store } = openTestStore({ synchronous: "FULL" });
  const runs = await store.write("admit", (tx) =>
    Array.from({ length: RUNS }, () => putRunning(tx).run),
  );
  const began = performance.now();
  for (let done = 0; done < TRANSITIONS; done += atOnce) {
    const batch = runs.slice(0, atOnce).map((run) => advance(store, run));
    await Promise.all(batch);
  }
  const perSecond = (TRANSITIONS * 1000) / (performance.now() - began);
  store.close();
  return perSecond;
}

/** What one boundary of a run costs: two reads and five writes. */
function advance(store: Store, { runId }: RunRecord): Promise<void> {
  return store.write("advance", (tx) => {
    const run = tx.runs.get(runId);
    const open = tx.attempts.open(runId);
    if (run === undefined || open === undefined) throw new Error("the run is gone");
    const { attemptId, ordinal } = open;
    const output = tx.put.value(JSON.stringify("x".repeat(700)));
    tx.put.attemptChange(attemptId, { status: "ok", output, finishedAt: 2 });
    tx.put.attempt(attemptRecord(runId, { ordinal: ordinal + 1, visit: ordinal + 1 }));
    const revision = run.revision + 1;
    tx.put.runChange(runId, { revision, boundary: run.boundary + 1, visit: ordinal + 1 });
    tx.put.claimChange(runId, 1, { heartbeat: ordinal, lastNumber: ordinal, lastAnswer: "{}" });
    tx.put.event(eventRecord(runId, { revision, kind: "advance" }));
  });
}

function rounded(values: readonly number[]): string {
  return median(values).toFixed(0);
}
