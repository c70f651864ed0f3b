import { describe, expect, test } from "vitest";
import { settle } from "../support/acting.ts";
import { cancelRun } from "../../src/host/operations/runs.ts";
import { lossOf, reasonOf, refusal } from "../support/refusal.ts";
import { arrange, cancel, effects, SCENES } from "../support/scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { next, OK } from "../support/test-worker.ts";

describe("a cancel", () => {
  test.each(Object.keys(SCENES))("ends a run that is %s and leaves nothing open", async (name) => {
    const rig = new TestRig();
    const runId = await arrange(rig, name);
    const receipt = await cancel(rig, runId);
    const run = rig.run(runId);
    expect(run).toMatchObject({ status: "cancelled", finishedAt: rig.at.clock.now() });
    expect(receipt).toMatchObject({ outcome: "committed", runId, revision: run.revision });
    expect(rig.reader.claims.open(runId)).toBeUndefined();
    expect(rig.reader.attempts.open(runId)).toBeUndefined();
    expect(rig.reader.interactions.open(runId)).toBeUndefined();
    expect(rig.reader.timers.open(runId)).toBeUndefined();
    const unsettled = rig.reader.effects.unsettled(runId).map((one) => one.status);
    expect(unsettled.filter((status) => status !== "ambiguous")).toEqual([]);
    expect(await reasonOf(cancel(rig, runId))).toBe("ILLEGAL_TRANSITION");
  });

  test.each([
    ["being applied", "running with an idempotent effect"],
    ["applied by a worker that is gone", "queued with a pending effect"],
  ])("leaves the outcome of an effect %s to a person", async (_what, scene) => {
    const rig = new TestRig();
    const runId = await arrange(rig, scene);
    await cancel(rig, runId);
    expect(effects(rig, runId)).toEqual([["ambiguous", true]]);
  });

  test("cancels an effect that was never begun again", async () => {
    const rig = new TestRig();
    const runId = await arrange(rig, "blocked on an effect");
    const [effect] = rig.reader.effects.ofRun(runId);
    await settle({ rig, effectId: effect?.effectId ?? "" }, "retry");
    await cancel(rig, runId);
    expect(effects(rig, runId)).toEqual([["cancelled", false]]);
  });

  test("takes the claim away before the worker knows", async () => {
    const rig = new TestRig();
    const worker = await rig.running();
    await cancel(rig, worker.runId, "no longer needed");
    expect(await lossOf(worker.advance(OK, next("end")))).toBe("missing_authority");
    expect(worker.run).toMatchObject({ status: "cancelled", detail: "no longer needed" });
    expect(await rig.lose(worker)).toBe("none");
  });

  test("that expects another revision is refused, with a live owner or without", async () => {
    const rig = new TestRig();
    const worker = await rig.running();
    const { runId } = worker;
    const expectedRevision = worker.run.revision;
    await worker.advance(OK, next("hub"));
    const stale = rig.asked("CancelRun", { expectedRevision });
    const error = await refusal(cancelRun(rig.host, stale, { runId, note: "" }));
    expect(error.reason).toBe("STALE_REVISION");
    expect(worker.run.status).toBe("running");
    const fresh = rig.asked("CancelRun", { expectedRevision: worker.run.revision });
    await rig.sound(cancelRun(rig.host, fresh, { runId, note: "" }));
    expect(worker.run.status).toBe("cancelled");
  });

  test("that is repeated gets its receipt, with other content a conflict", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    const once = rig.asked("CancelRun", { key: "once", fields: { runId } });
    const first = await rig.sound(cancelRun(rig.host, once, { runId, note: "" }));
    const again = await rig.sound(cancelRun(rig.host, once, { runId, note: "" }));
    expect(again).toEqual({ ...first, outcome: "adopted" });
    const other = rig.asked("CancelRun", { key: "once", fields: { runId: "run_other" } });
    expect(await reasonOf(cancelRun(rig.host, other, { runId, note: "" }))).toBe(
      "IDEMPOTENCY_CONFLICT",
    );
  });

  test("takes a note of 1 KiB and not one byte more", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    expect(await reasonOf(cancel(rig, runId, "n".repeat(1_025)))).toBe("LIMIT_EXCEEDED");
    await cancel(rig, runId, "n".repeat(1_024));
    expect(rig.run(runId).status).toBe("cancelled");
  });

  test("of a run that nobody knows is refused", async () => {
    const rig = new TestRig();
    expect(await reasonOf(cancel(rig, "run_unknown"))).toBe("RUN_NOT_FOUND");
  });
});
