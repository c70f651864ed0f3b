import { describe, expect, test } from "vitest";
import { resolveEffect } from "../../src/host/operations/effects.ts";
import { acting, applied, settle } from "../support/acting.ts";
import { reasonOf } from "../support/refusal.ts";
import { cancel, effects, pause, resume } from "../support/scenes.ts";
import { hubAt, TestRig } from "../support/test-host.ts";
import { COMPLETE, FAIL, FAILED, next, OK, retry, TIMED_OUT } from "../support/test-worker.ts";

describe("an effect that is asked for again", () => {
  test("with another request blocks the run, and a resume does not help", async () => {
    const { rig, worker, effectId } = await acting("mail");
    await rig.lose(worker);
    const fingerprint = "another request";
    const second = await rig.relaunch(worker.runId);
    expect(await second.act({ fingerprint })).toEqual({ effectId, kind: "blocked" });
    expect(worker.run).toMatchObject({ status: "blocked", blockReason: "effect_conflict" });
    await resume(rig, worker.runId);
    const third = await rig.relaunch(worker.runId);
    expect(await third.act({ fingerprint })).toEqual({ effectId, kind: "blocked" });
  });

  test("after a person said that it was applied is answered with what that person gave", async () => {
    const scene = await acting("redeploy");
    const { rig, worker, effectId } = scene;
    await rig.lose(worker);
    await settle(scene, "applied", '"by hand"');
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin.kind).toBe("verdict");
    await successor.advance(undefined, next("end"));
    const attempt = rig.reader.attempts.newestOk(worker.runId, "redeploy");
    expect(attempt?.output).toEqual({ json: '"by hand"' });
    expect(rig.reader.effects.get(effectId)?.receipt).toEqual({ json: '"by hand"' });
  });

  test("with a standing receipt is answered with that receipt", async () => {
    const { rig, worker, effectId } = await acting("mail");
    await rig.lose(worker);
    // No transition leaves an applied effect under an interrupted attempt; a repeat must find it.
    await rig.host.store.write("test", (tx) =>
      tx.put.effectChange(effectId, { status: "applied", receipt: { json: '"sent"' } }),
    );
    const successor = await rig.relaunch(worker.runId);
    const grant = await successor.act();
    expect(grant).toEqual({ effectId, kind: "stored", receiptJson: '"sent"' });
    await successor.advance({ ...OK, effect: applied(effectId, '"sent"') }, next("end"));
    expect(rig.reader.effects.applications(effectId)).toBe(1);
  });

  test("with a standing receipt that is empty is answered with null", async () => {
    const { rig, worker, effectId } = await acting("mail");
    await rig.lose(worker);
    await rig.host.store.write("test", (tx) =>
      tx.put.effectChange(effectId, { status: "applied", receipt: undefined }),
    );
    const successor = await rig.relaunch(worker.runId);
    expect(await successor.act()).toMatchObject({ kind: "stored", receiptJson: "null" });
  });

  test("while its outcome needs a person blocks the run", async () => {
    const { rig, worker, effectId } = await acting("once");
    await rig.lose(worker);
    await rig.host.store.write("test", (tx) =>
      tx.put.effectChange(effectId, { status: "ambiguous" }),
    );
    const successor = await rig.relaunch(worker.runId);
    expect(await successor.act()).toEqual({ effectId, kind: "blocked" });
    expect(worker.run).toMatchObject({ status: "blocked", blockReason: "effect_ambiguous" });
  });
});

describe("a person who settles the effect of a blocked run", () => {
  test("is asked to look again while what applied it is being ended", async () => {
    const { rig, worker, effectId } = await acting("deploy");
    await rig.lose(worker);
    const request = { effectId, resolution: "retry" as const };
    const early = resolveEffect(rig.host, rig.asked("ResolveEffect"), request);
    expect(await reasonOf(early)).toBe("ILLEGAL_TRANSITION");
    expect(rig.reader.effects.get(effectId)?.status).toBe("ambiguous");
    await rig.exit(worker.proof.workerId);
    await rig.sound(resolveEffect(rig.host, rig.asked("ResolveEffect"), request));
    expect(rig.reader.effects.get(effectId)?.status).toBe("pending");
  });

  test("as applied has the attempt end ok with the output, null by default", async () => {
    const scene = await acting("deploy");
    const { rig, worker } = scene;
    await rig.lose(worker);
    await settle(scene, "applied");
    expect(effects(rig, worker.runId)).toEqual([["applied", false]]);
    expect(worker.run).toMatchObject({ status: "queued", routing: true, activation: "verdict" });
    expect(worker.run.blockReason).toBeUndefined();
    expect(rig.reader.attempts.newest(worker.runId)).toMatchObject({
      status: "ok",
      output: { json: "null" },
    });
    expect(rig.events(worker.runId).at(-1)).toBe("resolve");
  });

  test("as not applied has the attempt fail, which the graph may route or try again", async () => {
    const scene = await acting("redeploy");
    const { rig, worker, effectId } = scene;
    await rig.lose(worker);
    await settle(scene, "not_applied");
    expect(effects(rig, worker.runId)).toEqual([["rejected", false]]);
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin).toMatchObject({ kind: "verdict", countedAttempts: 1 });
    await successor.advance(undefined, retry("redeploy"));
    expect(await successor.act()).toEqual({ effectId, kind: "apply" });
    const [first] = rig.reader.attempts.lastOfRun(worker.runId, 10);
    expect(first).toMatchObject({ status: "failed", error: { name: "EffectNotApplied" } });
  });

  test("by a retry has it applied again, by an attempt that counts as no further failure", async () => {
    const scene = await acting("deploy");
    const { rig, worker, effectId } = scene;
    await rig.lose(worker);
    await settle(scene, "retry");
    expect(effects(rig, worker.runId)).toEqual([["pending", false]]);
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin).toMatchObject({ kind: "continue", attempt: 2, countedAttempts: 0 });
    expect(await successor.act({ observable: true })).toEqual({ effectId, kind: "apply" });
  });

  test("can do so once", async () => {
    const scene = await acting("deploy");
    await scene.rig.lose(scene.worker);
    await settle(scene, "applied");
    for (const resolution of ["applied", "not_applied", "retry"] as const) {
      expect(await reasonOf(settle(scene, resolution))).toBe("ILLEGAL_TRANSITION");
    }
  });

  test("does not lift a block for another reason", async () => {
    const scene = await acting("deploy");
    const { rig, worker } = scene;
    await pause(rig, worker.runId, true);
    // A paused run can be blocked too, and then has two reasons to wait for a person.
    await rig.host.store.write("test", (tx) => {
      tx.put.runChange(worker.runId, { status: "blocked", blockReason: "source_changed" });
    });
    await settle(scene, "applied");
    expect(worker.run).toMatchObject({ status: "blocked", blockReason: "source_changed" });
    await resume(rig, worker.runId);
    expect(worker.run.status).toBe("queued");
  });
});

describe("a person who settles an effect that its run has left", () => {
  test.each([
    ["applied", "applied"],
    ["not_applied", "rejected"],
  ] as const)("as %s changes the effect and nothing else", async (resolution, status) => {
    const scene = await acting("once");
    const { rig, worker } = scene;
    await worker.advance(TIMED_OUT, next("end"));
    const before = worker.run;
    await settle(scene, resolution);
    expect(effects(rig, worker.runId)).toEqual([[status, false]]);
    expect(worker.run).toEqual({ ...before, revision: before.revision + 1 });
    await worker.advance(OK, COMPLETE);
  });

  test("leaves the question alone that the run waits for meanwhile", async () => {
    const rig = new TestRig();
    const edges = [{ from: "once", to: "ask" }];
    const worker = await rig.running("once", { graph: { ...hubAt("once"), edges } });
    const { effectId } = await worker.act();
    await worker.advance(TIMED_OUT, next("ask"));
    await worker.ask();
    await settle({ rig, effectId }, "applied", '"late"');
    expect(worker.run).toMatchObject({ status: "waiting", routing: false });
    expect(rig.reader.attempts.open(worker.runId)?.status).toBe("waiting");
  });

  test("cannot ask for a retry", async () => {
    const scene = await acting("once");
    await scene.worker.advance(TIMED_OUT, next("end"));
    expect(await reasonOf(settle(scene, "retry"))).toBe("ILLEGAL_TRANSITION");
  });

  test("leaves a terminal run terminal", async () => {
    const scene = await acting("deploy");
    const { rig, worker } = scene;
    await cancel(rig, worker.runId);
    await settle(scene, "applied", "1");
    expect(worker.run.status).toBe("cancelled");
    expect(effects(rig, worker.runId)).toEqual([["applied", false]]);
  });

  test("that nobody knows is told so", async () => {
    const rig = new TestRig();
    expect(await reasonOf(settle({ rig, effectId: "eff_unknown" }, "applied"))).toBe(
      "EFFECT_NOT_FOUND",
    );
  });
});

describe("the effects of a run", () => {
  test("are settled one visit at a time", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await worker.advance(OK, next("deploy"));
    const { effectId } = await worker.act();
    await worker.advance({ ...FAILED, effect: applied(effectId) }, FAIL);
    expect(effects(rig, worker.runId)).toEqual([["applied", false]]);
  });
});
