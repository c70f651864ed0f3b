/**
 * What the host watches while a worker executes: the attempt's deadline, the
 * worker's event loop, and the claim. A blocked loop is a seen state and nothing
 * is rerun because of it; only a process that does not run at all loses its run.
 */
import { describe, expect, test } from "vitest";
import { ClaimLoss } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { ActivationKind } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { AttemptOutcome } from "../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import { SchedulerRig, turns } from "../support/scheduler-rig.ts";

describe("an attempt that is overdue", () => {
  test("is the worker's to end first, then the host's, whose verdict is stored before the kill", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins(10_000);
    await rig.seconds(11);
    expect(rig.run(runId).status).toBe("running");
    worker.mortal = false;
    await rig.seconds(1);
    expect(worker.signals).toEqual(["kill"]);
    expect(rig.run(runId)).toMatchObject({
      status: "queued",
      routing: true,
      activation: "verdict",
    });
    expect(rig.reader.attempts.newest(runId)).toMatchObject({
      status: "timed_out",
      error: { name: "TimeoutError", message: expect.stringContaining("node flaky") as unknown },
    });
    // Its process is still there, so that no second attempt may run beside it.
    await rig.seconds(2);
    expect(rig.supervisor.unclaimed).toBe(0);
    worker.dies({ cause: "killed", signal: "SIGKILL" });
    const next = await rig.supervisor.worker();
    const begin = await next.begins();
    expect(begin).toMatchObject({ kind: ActivationKind.VERDICT, countedAttempts: 1 });
    next.says({
      case: "advance",
      value: { follow: { case: "next", value: { node: "flaky", retry: true } } },
    });
    expect((await next.hears("ack")).attempt).toBe(2);
    expect(rig.run(runId).noProgress).toBe(0);
  });

  test("is not overdue by the worker's pause before a further try, nor after its end", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("hub");
    await worker.begins(1_000);
    await worker.advances("hub", { output: {}, timeoutMs: 20_000 });
    await rig.seconds(21);
    expect(worker.signals).toEqual([]);
    await worker.advances("end");
    await rig.seconds(60);
    expect(worker.signals).toEqual([]);
    expect(rig.run(runId).status).toBe("running");
  });

  test("is not judged while what it proposed in time is being written", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("hub");
    await worker.begins(1_000);
    rig.store.trouble = "STORAGE_FULL";
    const advanced = worker.advances("end");
    await rig.seconds(20);
    expect(worker.signals).toEqual([]);
    rig.store.trouble = undefined;
    await rig.seconds(1);
    expect((await advanced).parked).toBe(false);
    expect(rig.events(runId)).toEqual(["admit", "launch", "attach", "advance"]);
  });

  // What the worker sent while the host stood still lies unread in the socket.
  test("gets another grace from a host that did not run when the deadline passed", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("hub");
    await worker.begins(5_000);
    rig.at.clock.jump(600_000);
    await turns();
    expect(rig.run(runId).status).toBe("running");
    await worker.advances("end");
    await rig.seconds(5);
    expect(worker.signals).toEqual([]);
    expect(rig.run(runId).node).toBe("end");
  });

  test("that waits for its effect leaves the outcome of a manual one to a person", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("deploy");
    await worker.begins(1_000);
    worker.says({
      case: "effectBegin",
      value: { key: "k", fingerprint: "f".repeat(64), type: "shell", policy: "manual" },
    });
    await worker.hears("effect");
    await rig.seconds(3);
    await rig.idle();
    expect(rig.run(runId)).toMatchObject({ status: "blocked", blockReason: "effect_ambiguous" });
  });
});

describe("a worker whose loop is blocked", () => {
  test("is seen after five seconds, keeps its claim for a minute, and is seen to go on", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    rig.cpuMs.set(worker.pid, 100);
    await worker.begins();
    await rig.seconds(4);
    expect(rig.scheduler.loopBlock(runId)).toBeUndefined();
    const began = rig.at.clock.now() - 4_000;
    rig.cpuMs.set(worker.pid, 60_100);
    await rig.seconds(56);
    expect(rig.scheduler.loopBlock(runId)).toEqual({ node: "flaky", since: began, cpuMs: 60_000 });
    expect(rig.scheduler.activations()).toMatchObject([{ runId, loopBlock: { node: "flaky" } }]);
    expect(worker.deprioritised).toBe(true);
    expect(rig.reader.claims.open(runId)?.generation).toBe(1);
    expect(rig.scheduler.expiredClaims()).toBe(0);
    worker.heartbeat(60_100);
    expect(rig.scheduler.loopBlock(runId)).toBeUndefined();
    await worker.advances("end");
    await worker.finishes();
    expect(rig.events(runId)).toEqual(["admit", "launch", "attach", "advance", "finish"]);
  });

  test("is not seen as such by a host that did not run itself", async () => {
    const rig = new SchedulerRig();
    const { worker } = await rig.launched("flaky");
    await worker.begins();
    rig.at.clock.jump(60_000);
    await turns();
    expect(worker.deprioritised).toBe(false);
  });

  test("is killed at once when its run is cancelled: it would not read the request", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    await rig.seconds(6);
    await rig.cancel(runId);
    await rig.idle();
    expect(worker.signals).toEqual(["kill"]);
    expect(rig.run(runId).status).toBe("cancelled");
  });
});

describe("a claim", () => {
  test("is renewed for a worker that is silent, and only as often as set", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    await rig.seconds(95);
    expect(rig.store.asked.filter((name) => name === "renew")).toHaveLength(9);
    expect(rig.reader.claims.open(runId)?.expiry).toBeGreaterThan(rig.host.leaseNow());
    expect(rig.events(runId)).toEqual(["admit", "launch", "attach"]);
  });

  test("does not run out while the store cannot write, however long", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    rig.store.trouble = "STORAGE_FULL";
    await rig.seconds(120);
    expect(rig.scheduler.expiredClaims()).toBe(0);
    rig.store.trouble = undefined;
    await rig.seconds(1);
    await worker.advances("end");
    expect(rig.run(runId).generation).toBe(1);
  });

  test("does not run out while the machine sleeps", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    rig.at.clock.jump(8 * 3_600_000);
    await turns();
    await worker.advances("end");
    expect(rig.run(runId).generation).toBe(1);
    expect(worker.signals).toEqual([]);
  });

  test("of a stopped process runs out; its tree is gone before another takes over", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    rig.states.set(worker.pid, "T");
    const { promise: gone, resolve: confirmGone } = Promise.withResolvers<void>();
    rig.supervisor.holdTrees = gone;
    await rig.seconds(29);
    expect(worker.signals).toEqual([]);
    await rig.seconds(2);
    expect(worker.signals).toContain("kill");
    await rig.reaches(runId, "queued");
    expect(rig.supervisor.unclaimed).toBe(0);
    rig.supervisor.holdTrees = undefined;
    confirmGone();
    await rig.seconds(1);
    const next = await rig.supervisor.worker();
    expect((await next.begins()).kind).toBe(ActivationKind.CONTINUE);
    expect(next.boundTo?.generation).toBeGreaterThan(1);
    expect(rig.run(runId).noProgress).toBe(1);
  });

  test("that ran out is told to a process that wakes before anybody took over", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    rig.states.set(worker.pid, "T");
    worker.mortal = false;
    await rig.seconds(31);
    worker.says({
      case: "advance",
      value: {
        result: { outcome: AttemptOutcome.OK, outputJson: Buffer.from("1") },
        follow: { case: "next", value: { node: "end" } },
      },
    });
    expect((await worker.hears("lost")).loss).toBe(ClaimLoss.EXPIRED);
    expect(rig.events(runId)).toEqual(["admit", "launch", "attach"]);
    worker.dies({ cause: "exit", code: 0 });
    await rig.seconds(1);
    const next = await rig.supervisor.worker();
    await next.begins();
    await next.advances("end");
    expect(rig.run(runId).node).toBe("end");
  });
});
