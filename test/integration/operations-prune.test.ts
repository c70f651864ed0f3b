import { describe, expect, test } from "vitest";
import { diagnose } from "../../src/host/diagnosis.ts";
import { pruneRuns } from "../../src/host/operations/retention.ts";
import { admitRun, cancelRun } from "../../src/host/operations/runs.ts";
import { acting } from "../support/acting.ts";
import { reasonOf } from "../support/refusal.ts";
import { arrange, cancel, SCENES } from "../support/scenes.ts";
import { askingModel, told } from "../support/session-scenes.ts";
import { admission, TestRig } from "../support/test-host.ts";
import { COMPLETE, next, OK } from "../support/test-worker.ts";
import { vandalise } from "../support/vandal.ts";

const DAY_MS = 86_400_000;

function prune(rig: TestRig, olderThanMs: number, dryRun = false) {
  return rig.sound(pruneRuns(rig.host, rig.asked("Prune"), { olderThanMs, dryRun }));
}

/** A run that has completed, its worker confirmed gone. */
async function completed(rig: TestRig, outputJson = "1"): Promise<string> {
  const worker = await rig.running("hub");
  await worker.advance({ outcome: "ok", outputJson }, next("end"));
  await worker.advance(OK, COMPLETE);
  await rig.exit(worker.proof.workerId);
  return worker.runId;
}

describe("prune", () => {
  test("deletes what ended long ago, with all its rows, and nothing younger", async () => {
    const rig = new TestRig();
    const old = await completed(rig);
    rig.at.clock.advance(DAY_MS);
    const young = await completed(rig);
    rig.at.clock.advance(1);
    const { extra } = await prune(rig, DAY_MS);
    expect(extra).toMatchObject({ runs: 1, protectedRuns: 0 });
    expect(rig.reader.runs.get(old)).toBeUndefined();
    expect(rig.reader.events.ofRun(old, 0, 10)).toEqual([]);
    expect(rig.reader.attempts.lastOfRun(old, 10)).toEqual([]);
    expect(rig.reader.workers.ofRun(old)).toEqual([]);
    expect(rig.run(young).status).toBe("completed");
  });

  test.each(Object.keys(SCENES))("never touches a run that is %s, however old", async (scene) => {
    const rig = new TestRig();
    const runId = await arrange(rig, scene);
    rig.at.clock.advance(1_000 * DAY_MS);
    expect((await prune(rig, 0)).extra).toMatchObject({ runs: 0, protectedRuns: 0 });
    expect(rig.reader.runs.page({ limit: 10 }).map((run) => run.runId)).toEqual([runId]);
  });

  test("keeps a run whose effect a person must settle, and goes on behind it", async () => {
    const { rig, worker } = await acting("deploy");
    await cancel(rig, worker.runId);
    await rig.exit(worker.proof.workerId);
    // Looked at once for all: a look at all after each would take most of the time.
    for (let count = 0; count < 55; count += 1) {
      const { runId = "" } = await admitRun(rig.host, rig.asked("StartRun"), admission());
      await cancelRun(rig.host, rig.asked("CancelRun"), { runId, note: "" });
    }
    expect(diagnose(rig.reader)).toEqual([]);
    rig.at.clock.advance(1);
    expect((await prune(rig, 0)).extra).toMatchObject({ runs: 55, protectedRuns: 1 });
    expect(rig.reader.runs.page({ limit: 10 }).map((run) => run.runId)).toEqual([worker.runId]);
  });

  test("keeps a run whose worker is not confirmed gone", async () => {
    const rig = new TestRig();
    const worker = await rig.running();
    await cancel(rig, worker.runId);
    rig.at.clock.advance(1);
    expect((await prune(rig, 0)).extra).toMatchObject({ runs: 0, protectedRuns: 1 });
    await rig.exit(worker.proof.workerId);
    expect((await prune(rig, 0)).extra).toMatchObject({ runs: 1, protectedRuns: 0 });
  });

  test("keeps a run whose end its session has not been shown, for a year", async () => {
    const rig = new TestRig();
    const { runId } = await askingModel(rig);
    await cancel(rig, runId);
    rig.at.clock.advance(364 * DAY_MS);
    expect((await prune(rig, 0, true)).extra).toMatchObject({ runs: 0, protectedRuns: 1 });
    expect((await prune(rig, 0)).extra).toMatchObject({ runs: 0, protectedRuns: 1 });
    expect(told(rig, runId)).toContain("result first pending");
    rig.at.clock.advance(2 * DAY_MS);
    expect((await prune(rig, 0)).extra).toMatchObject({ runs: 1, protectedRuns: 0 });
  });

  test("deletes it at once when it was shown", async () => {
    const rig = new TestRig();
    const { runId } = await askingModel(rig);
    await cancel(rig, runId);
    vandalise(rig.at.path, runId, [
      "UPDATE messages SET status = 'delivered', delivered_at = 1 WHERE kind = 'result'",
    ]);
    rig.at.clock.advance(1);
    expect((await prune(rig, 0)).extra).toMatchObject({ runs: 1, protectedRuns: 0 });
  });

  test("deletes what a run was restarted from, and leaves the run that came of it whole", async () => {
    const rig = new TestRig();
    const first = await completed(rig);
    const asked = rig.asked("RestartRun");
    const restart = () =>
      rig.sound(admitRun(rig.host, asked, { ...admission(), restartedFrom: first }));
    const { runId = "" } = await restart();
    rig.at.clock.advance(1);
    expect((await prune(rig, 0)).extra).toMatchObject({ runs: 1, protectedRuns: 0 });
    expect(rig.run(runId)).toMatchObject({ status: "queued", restartedFrom: first });
    const worker = await rig.relaunch(runId);
    await worker.advance(OK, next("end"));
    await worker.advance(OK, COMPLETE);
    // The receipt of the restart outlives both.
    await rig.exit(worker.proof.workerId);
    rig.at.clock.advance(1);
    expect((await prune(rig, 0)).extra).toMatchObject({ runs: 1, protectedRuns: 0 });
    expect(await restart()).toMatchObject({ outcome: "adopted", runId });
    expect(rig.reader.runs.page({ limit: 10 })).toEqual([]);
  });

  test("only tells in a dry run", async () => {
    const rig = new TestRig();
    const runId = await completed(rig);
    rig.at.clock.advance(1);
    const { extra } = await prune(rig, 0, true);
    expect(extra).toEqual({ runs: 1, protectedRuns: 0, freedBytes: 0 });
    expect(rig.run(runId).status).toBe("completed");
  });

  test("gives the space back, keeping what another run shares", async () => {
    const rig = new TestRig();
    const output = (text: string): string => JSON.stringify(text.repeat(1_000_000));
    await completed(rig, output("a"));
    await completed(rig, output("b"));
    rig.at.clock.advance(1);
    const kept = await completed(rig, output("b"));
    const before = rig.at.store.sizes().databaseBytes;
    const { extra } = await prune(rig, 0);
    expect(extra?.runs).toBe(2);
    expect(extra?.freedBytes).toBeGreaterThan(1_000_000);
    expect(extra?.freedBytes).toBeLessThan(1_500_000);
    for (let helping = 0; helping < 5; helping += 1) {
      rig.at.store.maintain();
      await rig.host.store.write("test", () => undefined);
    }
    expect(rig.at.store.sizes().databaseBytes).toBeLessThan(before - 1_000_000);
    const attempt = rig.reader.attempts.newestOk(kept, "hub");
    expect(rig.reader.values.read(attempt?.output ?? { json: "" })).toBe(output("b"));
  });

  test("repeated with its key gets its receipt and deletes nothing more", async () => {
    const rig = new TestRig();
    await completed(rig);
    rig.at.clock.advance(1);
    const request = { olderThanMs: 0, dryRun: false };
    const once = rig.asked("Prune", { key: "once", fields: request });
    const first = await rig.sound(pruneRuns(rig.host, once, request));
    await completed(rig);
    rig.at.clock.advance(1);
    const again = await rig.sound(pruneRuns(rig.host, once, request));
    expect(again).toEqual({ ...first, outcome: "adopted" });
    expect(rig.reader.runs.page({ limit: 10 })).toHaveLength(1);
    const other = rig.asked("Prune", { key: "once", fields: { olderThanMs: 1 } });
    expect(await reasonOf(pruneRuns(rig.host, other, request))).toBe("IDEMPOTENCY_CONFLICT");
  });
});
