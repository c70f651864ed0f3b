import { describe, expect, test } from "vitest";
import { settle } from "../support/acting.ts";
import { answerCheckpoint } from "../../src/host/operations/interactions.ts";
import { reasonOf, refusal } from "../support/refusal.ts";
import { arrange, effects, pause, resume } from "../support/scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { COMPLETE, FAIL, FAILED, next, OK, retry } from "../support/test-worker.ts";
import type { TestWorker } from "../support/test-worker.ts";

describe("a pause", () => {
  const PAUSABLE = [
    "queued",
    "starting",
    "running",
    "running and only routing",
    "waiting for an answer",
    "waiting for a timer",
    "waiting for another try",
    "running with an expired claim",
  ];

  test.each(PAUSABLE)("stops a run that is %s, and a resume lets it go on", async (name) => {
    const rig = new TestRig();
    const runId = await arrange(rig, name);
    const waits = rig.run(runId).status === "waiting";
    await pause(rig, runId);
    expect(rig.run(runId).status).toBe("paused");
    expect(rig.reader.claims.open(runId)).toBeUndefined();
    expect(await reasonOf(pause(rig, runId))).toBe("ILLEGAL_TRANSITION");
    await resume(rig, runId);
    expect(rig.run(runId).status).toBe(waits ? "waiting" : "queued");
  });

  test("has the interrupted attempt tried again, without counting it", async () => {
    const rig = new TestRig();
    const first = await rig.running("flaky");
    await pause(rig, first.runId);
    await resume(rig, first.runId);
    const second = await rig.relaunch(first.runId);
    expect(second.begin).toMatchObject({ kind: "continue", attempt: 2, countedAttempts: 0 });
    expect(second.run.noProgress).toBe(0);
  });

  test("of a routing run keeps what it is to route on", async () => {
    const rig = new TestRig();
    const runId = await arrange(rig, "running and only routing");
    await pause(rig, runId);
    await resume(rig, runId);
    const worker = await rig.relaunch(runId);
    expect(worker.begin.kind).toBe("verdict");
  });

  test("keeps a delayed run delayed", async () => {
    const rig = new TestRig();
    const notBefore = rig.at.clock.now() + 60_000;
    const runId = await rig.admit({ notBefore });
    await pause(rig, runId);
    await resume(rig, runId);
    expect(rig.run(runId).availableAt).toBe(notBefore);
  });

  test("keeps answers and timers out until the run is resumed", async () => {
    const rig = new TestRig();
    const worker = await rig.running("ask");
    const interactionId = await worker.ask({ timeoutMs: 1_000 });
    await pause(rig, worker.runId);
    const answer = { interactionId, answerJson: "true" };
    const asked = rig.asked("AnswerCheckpoint");
    const error = await refusal(answerCheckpoint(rig.host, asked, answer));
    expect(error.reason).toBe("ILLEGAL_TRANSITION");
    expect(error.message).toContain("resume it before");
    expect(await rig.pass(5_000)).toBe(0);
    expect(worker.run.status).toBe("paused");
  });
});

describe("a pause while an effect is being applied", () => {
  async function pausing(node: string): Promise<{ rig: TestRig; worker: TestWorker }> {
    const rig = new TestRig();
    const worker = await rig.running(node);
    await worker.act();
    await pause(rig, worker.runId);
    expect(worker.run).toMatchObject({ status: "running", pauseRequested: true });
    expect(rig.events(worker.runId).at(-1)).toBe("pause_requested");
    return { rig, worker };
  }

  function applied(rig: TestRig, worker: TestWorker) {
    const effectId = rig.reader.effects.applyingOfRun(worker.runId)[0]?.effectId ?? "";
    const effect = { effectId, kind: "applied" as const, receiptJson: '"sent"' };
    return { outcome: "ok" as const, outputJson: "1", effect };
  }

  test("lands in paused at the next boundary, with its receipt and before the next attempt", async () => {
    const { rig, worker } = await pausing("deploy");
    const ack = await worker.advance(applied(rig, worker), next("end"));
    expect(ack).toEqual({ boundary: 2, parked: true });
    expect(worker.run).toMatchObject({ status: "paused", node: "end", pauseRequested: false });
    expect(rig.reader.attempts.open(worker.runId)).toBeUndefined();
    expect(effects(rig, worker.runId)).toEqual([["applied", false]]);
    await resume(rig, worker.runId);
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin).toMatchObject({ kind: "start", node: "end", attempt: 1 });
  });

  test("lands in paused before another try", async () => {
    const { rig, worker } = await pausing("mail");
    const [effect] = rig.reader.effects.applyingOfRun(worker.runId);
    const outcome = { effectId: effect?.effectId ?? "", kind: "rejected" as const, detail: "no" };
    await worker.advance({ ...FAILED, effect: outcome }, retry("mail"));
    expect(worker.run).toMatchObject({ status: "paused", activation: "continue" });
  });

  test("lets a run that ends end", async () => {
    const { rig, worker } = await pausing("deploy");
    await worker.advance(applied(rig, worker), FAIL);
    expect(worker.run).toMatchObject({ status: "failed", pauseRequested: false });
  });

  test("lands in paused when the attempt goes into a long back-off", async () => {
    const { rig, worker } = await pausing("mail");
    const [effect] = rig.reader.effects.applyingOfRun(worker.runId);
    const outcome = { effectId: effect?.effectId ?? "", kind: "rejected" as const, detail: "no" };
    await worker.wait(60_000, { ...FAILED, effect: outcome });
    expect(worker.run.status).toBe("paused");
    await rig.pass(120_000);
    await resume(rig, worker.runId);
    expect(worker.run).toMatchObject({ status: "queued", activation: "continue" });
  });

  test("lands in paused by a verdict and by a loss", async () => {
    const judged = await pausing("mail");
    expect(await judged.worker.judge("timed_out")).toEqual({ outcome: "paused" });
    expect(judged.worker.run.status).toBe("paused");
    const lost = await pausing("mail");
    expect(await lost.rig.lose(lost.worker)).toBe("paused");
    expect(lost.worker.run).toMatchObject({ status: "paused", noProgress: 1 });
  });

  test("is revoked by a resume", async () => {
    const { rig, worker } = await pausing("deploy");
    await resume(rig, worker.runId);
    expect(worker.run).toMatchObject({ status: "running", pauseRequested: false });
    await worker.advance(applied(rig, worker), next("end"));
    await worker.advance(OK, COMPLETE);
    expect(worker.run.status).toBe("completed");
  });

  test("is asked for once: a second one gets a receipt and changes nothing", async () => {
    const { rig, worker } = await pausing("deploy");
    const before = worker.run;
    expect(await pause(rig, worker.runId)).toMatchObject({ revision: before.revision });
    expect(worker.run).toEqual(before);
  });

  test("takes an idempotent effect back with --now", async () => {
    const { rig, worker } = await pausing("mail");
    await pause(rig, worker.runId, true);
    expect(worker.run).toMatchObject({ status: "paused", activation: "continue" });
    expect(effects(rig, worker.runId)).toEqual([["pending", true]]);
    await resume(rig, worker.runId);
    expect(worker.run.status).toBe("queued");
  });

  test("makes a manual effect ambiguous with --now, which a resume waits for", async () => {
    const { rig, worker } = await pausing("deploy");
    await pause(rig, worker.runId, true);
    expect(worker.run.status).toBe("paused");
    expect(rig.reader.attempts.open(worker.runId)?.status).toBe("waiting");
    const error = await refusal(resume(rig, worker.runId));
    expect(error.reason).toBe("EFFECT_AMBIGUOUS");
    const [effectId = ""] = error.details.names ?? [];
    await settle({ rig, effectId }, "applied", '"by hand"');
    expect(worker.run).toMatchObject({ status: "paused", routing: true });
    await resume(rig, worker.runId);
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin.kind).toBe("verdict");
    await successor.advance(undefined, next("end"));
  });
});

describe("a resume", () => {
  test.each(["queued", "starting", "running", "waiting for an answer"])(
    "of a run that is %s is refused",
    async (name) => {
      const rig = new TestRig();
      const runId = await arrange(rig, name);
      expect(await reasonOf(resume(rig, runId))).toBe("ILLEGAL_TRANSITION");
    },
  );

  test("of a running run says that there is no pause to take back", async () => {
    const rig = new TestRig();
    const worker = await rig.running();
    const error = await refusal(resume(rig, worker.runId));
    expect(error.message).toContain("no pause of it is requested");
  });

  test("settles what became due meanwhile before anything else", async () => {
    const rig = new TestRig();
    const worker = await rig.running("ask");
    await worker.ask({ timeoutMs: 1_000 });
    await pause(rig, worker.runId);
    rig.at.clock.advance(1_000);
    await resume(rig, worker.runId);
    expect(worker.run).toMatchObject({ status: "queued", routing: true, activation: "expired" });
    expect(rig.events(worker.runId).slice(-2)).toEqual(["resume", "settle"]);
  });

  test("of a blocked run clears the reason and the count", async () => {
    const rig = new TestRig();
    const runId = await arrange(rig, "blocked on its sources");
    expect(rig.run(runId)).toMatchObject({
      status: "blocked",
      blockReason: "source_changed",
      detail: "changed",
      changedFiles: ["/x.ts"],
    });
    await resume(rig, runId);
    const run = rig.run(runId);
    expect(run).toMatchObject({ status: "queued", noProgress: 0 });
    expect([run.blockReason, run.detail, run.changedFiles]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("of a run that is blocked on an effect names the effect", async () => {
    const rig = new TestRig();
    const runId = await arrange(rig, "blocked on an effect");
    const error = await refusal(resume(rig, runId));
    expect(error.reason).toBe("EFFECT_AMBIGUOUS");
    expect(error.details.names).toEqual(rig.reader.effects.ofRun(runId).map((one) => one.effectId));
  });
});
