import { describe, expect, test } from "vitest";
import { recordEffectProcess } from "../../src/host/operations/effects.ts";
import { acting, applied } from "../support/acting.ts";
import type { Acting } from "../support/acting.ts";
import { reasonOf } from "../support/refusal.ts";
import { effects, pause, resume } from "../support/scenes.ts";
import { TestRig } from "../support/test-host.ts";
import {
  COMPLETE,
  FAIL,
  FAILED,
  FAILURE,
  next,
  OK,
  retry,
  TIMED_OUT,
} from "../support/test-worker.ts";

const UNKNOWN = { outcome: "unknown" as const, error: { name: "EffectUnknown", message: "gone" } };

describe("an effect that is begun", () => {
  test("is reserved as applying, with its application, before the worker may act", async () => {
    const { rig, worker, effectId } = await acting("deploy");
    expect(rig.reader.effects.get(effectId)).toMatchObject({
      status: "applying",
      policy: "manual",
    });
    expect(rig.reader.effects.lastAttempt(effectId)).toMatchObject({
      attemptId: worker.attemptId,
      application: 1,
    });
    expect(rig.events(worker.runId).at(-1)).toBe("effect_begin");
    expect(worker.run.boundary).toBe(1);
  });

  test("is one at a time, of the running attempt and at its boundary", async () => {
    const { worker } = await acting("deploy");
    expect(await reasonOf(worker.act({ key: "another" }))).toBe("REQUEST_INVALID");
    expect(await reasonOf(worker.act({ attemptId: "att_other" }))).toBe("ILLEGAL_TRANSITION");
    expect(await reasonOf(worker.act({ expectedBoundary: 7 }))).toBe("STALE_REVISION");
  });

  test("has a key that belongs to its visit alone", async () => {
    const { rig, worker, effectId } = await acting("deploy");
    await worker.advance({ ...OK, effect: applied(effectId) }, next("end"));
    const key = rig.reader.effects.get(effectId)?.key ?? "";
    expect(await reasonOf(worker.act({ key }))).toBe("REQUEST_INVALID");
  });

  test("remembers the process that applies it, until the worker's tree is gone", async () => {
    const { rig, worker, effectId } = await acting("deploy");
    const process = { pid: 99, startTime: "7", bootId: "boot" };
    await rig.sound(recordEffectProcess(rig.host, worker.proof, { effectId, ...process }));
    expect(rig.reader.effects.liveProcesses(worker.runId)).toMatchObject([process]);
    const other = { effectId: "eff_other", ...process };
    await rig.sound(recordEffectProcess(rig.host, worker.proof, other));
    await rig.lose(worker);
    expect(rig.reader.effects.liveProcesses(worker.runId)).toMatchObject([{ outcome: "unknown" }]);
    await rig.exit(worker.proof.workerId);
    expect(rig.reader.effects.liveProcesses(worker.runId)).toEqual([]);
    await rig.exit(worker.proof.workerId);
    expect(rig.reader.workers.get(worker.proof.workerId)).toMatchObject({ exitCode: 0 });
  });
});

describe("an effect that returned", () => {
  test("is applied with its receipt in the transaction of the boundary", async () => {
    const { rig, worker, effectId } = await acting("deploy");
    await worker.advance({ ...OK, effect: applied(effectId) }, next("end"));
    const effect = rig.reader.effects.get(effectId);
    expect(effect).toMatchObject({ status: "applied", receipt: { json: '{"id":1}' } });
    expect(rig.reader.effects.lastAttempt(effectId)).toMatchObject({ outcome: "applied" });
    await worker.advance(OK, COMPLETE);
  });

  test("is applied too when its attempt failed by the rule of the node", async () => {
    const { rig, worker, effectId } = await acting("deploy");
    const receipt = applied(effectId, '{"exitCode":1}');
    await worker.advance({ ...FAILED, effect: receipt }, FAIL);
    expect(effects(rig, worker.runId)).toEqual([["applied", false]]);
    expect(worker.run.status).toBe("failed");
  });

  test("has null for a receipt that nobody gave", async () => {
    const { rig, worker, effectId } = await acting("deploy");
    await worker.advance({ ...FAILED, effect: { effectId, kind: "applied" } }, FAIL);
    expect(rig.reader.effects.get(effectId)?.receipt).toEqual({ json: "null" });
  });

  test("that is tried again after a failed attempt is applied anew under its key", async () => {
    const { rig, worker, effectId } = await acting("redeploy");
    await worker.advance({ ...FAILED, effect: applied(effectId) }, retry("redeploy"));
    expect(await worker.act()).toEqual({ effectId, kind: "apply" });
    expect(rig.reader.effects.applications(effectId)).toBe(2);
  });
});

describe("an effect whose author's code threw", () => {
  test("is rejected with the error", async () => {
    const { rig, worker, effectId } = await acting("deploy");
    const effect = { effectId, kind: "rejected" as const, detail: "403" };
    await worker.advance({ ...FAILED, effect }, FAIL);
    expect(rig.reader.effects.get(effectId)).toMatchObject({ status: "rejected", detail: "403" });
  });

  test("is tried again only if the node says so", async () => {
    const { rig, worker, effectId } = await acting("mail");
    const effect = { effectId, kind: "rejected" as const };
    await worker.advance({ ...FAILED, effect }, retry("mail"));
    expect(rig.reader.effects.get(effectId)?.detail).toBe("");
    expect(await worker.act()).toEqual({ effectId, kind: "apply" });
    const other = await acting("deploy");
    const rejected = { effectId: other.effectId, kind: "rejected" as const };
    const again = other.worker.advance({ ...FAILED, effect: rejected }, retry("deploy"));
    expect(await reasonOf(again)).toBe("ILLEGAL_TRANSITION");
  });
});

describe("what a result says of its effect", () => {
  test("must be that it was applied when the attempt is ok", async () => {
    const { worker, effectId } = await acting("deploy");
    for (const kind of ["rejected", "unknown"] as const) {
      const result = { ...OK, effect: { effectId, kind } };
      expect(await reasonOf(worker.advance(result, next("end")))).toBe("REQUEST_INVALID");
    }
    expect(await reasonOf(worker.advance(OK, next("end")))).toBe("REQUEST_INVALID");
  });

  test("must be about the effect that is being applied", async () => {
    const { worker } = await acting("deploy");
    const result = { ...OK, effect: applied("eff_other") };
    expect(await reasonOf(worker.advance(result, next("end")))).toBe("REQUEST_INVALID");
    const idle = await new TestRig().running("hub");
    expect(await reasonOf(idle.advance(result, next("end")))).toBe("REQUEST_INVALID");
  });

  test("may only be unknown while an effect is being applied", async () => {
    const idle = await new TestRig().running("hub");
    expect(await reasonOf(idle.advance(UNKNOWN))).toBe("REQUEST_INVALID");
    const { worker, effectId } = await acting("deploy");
    const contrary = { ...UNKNOWN, effect: applied(effectId) };
    expect(await reasonOf(worker.advance(contrary))).toBe("REQUEST_INVALID");
    const other = { ...UNKNOWN, effect: { effectId: "eff_other", kind: "unknown" as const } };
    expect(await reasonOf(worker.advance(other))).toBe("REQUEST_INVALID");
    expect(await reasonOf(worker.wait(60_000, UNKNOWN))).toBe("REQUEST_INVALID");
  });
});

describe("an idempotent effect of unknown outcome", () => {
  test("is pending under the same key and its attempt is tried again", async () => {
    const { rig, worker, effectId } = await acting("mail");
    const ack = await worker.advance({ ...UNKNOWN, effect: { effectId, kind: "unknown" } });
    expect(ack).toEqual({ boundary: 1, parked: true });
    expect(effects(rig, worker.runId)).toEqual([["pending", true]]);
    expect(worker.run).toMatchObject({ status: "queued", activation: "continue", noProgress: 1 });
    const successor = await rig.relaunch(worker.runId);
    expect(await successor.act()).toEqual({ effectId, kind: "apply" });
    expect(rig.reader.effects.applications(effectId)).toBe(2);
  });

  test("is observed first if the author gave a way to", async () => {
    const { rig, worker, effectId } = await acting("mail");
    await rig.lose(worker);
    const successor = await rig.relaunch(worker.runId);
    expect(await successor.act({ observable: true })).toEqual({ effectId, kind: "observe" });
    await successor.advance({ ...OK, effect: applied(effectId) }, next("end"));
    expect(effects(rig, worker.runId)).toEqual([["applied", false]]);
  });

  test("blocks the run when workers die over it three times", async () => {
    const { rig, worker } = await acting("mail");
    await worker.advance(UNKNOWN);
    for (let death = 2; death <= 3; death += 1) {
      const successor = await rig.relaunch(worker.runId);
      await successor.act();
      await successor.advance(UNKNOWN);
    }
    expect(worker.run).toMatchObject({ status: "blocked", blockReason: "no_progress" });
  });

  test("is pending while a timed-out attempt has tries left", async () => {
    const { rig, worker, effectId } = await acting("mail");
    await worker.advance({ ...TIMED_OUT, effect: { effectId, kind: "unknown" } }, retry("mail"));
    expect(effects(rig, worker.runId)).toEqual([["pending", true]]);
    expect(await worker.act({ observable: true })).toEqual({ effectId, kind: "observe" });
  });

  test("is pending while a timed-out attempt waits for its next try", async () => {
    const { rig, worker } = await acting("mail");
    await worker.wait(60_000, TIMED_OUT);
    expect(effects(rig, worker.runId)).toEqual([["pending", true]]);
    expect(worker.run.status).toBe("waiting");
  });

  test("is ambiguous when the last try timed out, but the route is taken", async () => {
    const { rig, worker } = await acting("once");
    await worker.advance(TIMED_OUT, next("end"));
    expect(effects(rig, worker.runId)).toEqual([["ambiguous", true]]);
    expect(worker.run).toMatchObject({ status: "running", node: "end" });
    await pause(rig, worker.runId);
    await resume(rig, worker.runId);
    const successor = await rig.relaunch(worker.runId);
    await successor.advance(OK, COMPLETE);
    expect(worker.run.status).toBe("completed");
  });

  test.each([
    ["mail", "pending"],
    ["once", "ambiguous"],
  ])("of %s is %s after a verdict, which routes", async (node, status) => {
    const { rig, worker } = await acting(node);
    expect(await worker.judge("timed_out")).toEqual({ outcome: "routed" });
    expect(effects(rig, worker.runId)).toEqual([[status, true]]);
  });

  test("that is left behind by the route is ambiguous", async () => {
    const { rig, worker } = await acting("mail");
    await worker.judge("timed_out");
    const successor = await rig.relaunch(worker.runId);
    await successor.advance(undefined, next("end"));
    expect(effects(rig, worker.runId)).toEqual([["ambiguous", true]]);
  });

  test("that its run ends with is ambiguous", async () => {
    const { rig, worker } = await acting("mail");
    await worker.judge("timed_out");
    const successor = await rig.relaunch(worker.runId);
    await successor.advance(undefined, { kind: "end", outcome: "timed_out", error: FAILURE });
    expect(effects(rig, worker.runId)).toEqual([["ambiguous", true]]);
    expect(worker.run.status).toBe("timed_out");
  });
});

describe("a manual effect of unknown outcome", () => {
  test.each<[string, (acting: Acting) => Promise<unknown>]>([
    ["the attempt says so", ({ worker }) => worker.advance(UNKNOWN)],
    ["the attempt timed out", ({ worker }) => worker.advance(TIMED_OUT, next("end"))],
    ["the attempt goes into a back-off", ({ worker }) => worker.wait(60_000, FAILED)],
    ["the worker died", ({ rig, worker }) => rig.lose(worker)],
    ["the host decided", ({ worker }) => worker.judge("failed")],
    [
      "the worker must not go on",
      ({ worker }) => worker.block({ reason: "source_changed", detail: "changed" }),
    ],
  ])("blocks the run when %s, and its attempt waits", async (_why, end) => {
    const scene = await acting("redeploy");
    const { rig, worker, effectId } = scene;
    await end(scene);
    expect(worker.run).toMatchObject({ status: "blocked", blockReason: "effect_ambiguous" });
    expect(worker.run.detail).toContain(effectId);
    expect(rig.reader.attempts.open(worker.runId)?.status).toBe("waiting");
    expect(effects(rig, worker.runId)).toEqual([["ambiguous", true]]);
    expect(await reasonOf(resume(rig, worker.runId))).toBe("EFFECT_AMBIGUOUS");
  });
});
