/**
 * What a worker's end means for its run: decided from evidence, never guessed.
 * Nothing of a worker is alive any more when its run is launched again.
 */
import { describe, expect, test } from "vitest";
import { ActivationKind } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { GrantKind } from "../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import { SchedulerRig } from "../support/scheduler-rig.ts";
import { advance, effectBegin, exiting, fail } from "../support/worker-frames.ts";

const KILLED = { cause: "signal", signal: "SIGKILL" } as const;

describe("a worker that dies without evidence", () => {
  test("is followed by another at once, after 1 s, and then by nobody", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    worker.dies(KILLED);
    const second = await rig.supervisor.worker();
    expect((await second.begins()).kind).toBe(ActivationKind.CONTINUE);
    second.dies(KILLED);
    await rig.idle();
    expect(rig.supervisor.unclaimed).toBe(0);
    await rig.seconds(1);
    const third = await rig.supervisor.worker();
    await third.begins();
    third.output = "Segmentation fault";
    third.dies(KILLED);
    await rig.idle();
    expect(rig.run(runId)).toMatchObject({
      status: "blocked",
      blockReason: "no_progress",
      detail: expect.stringMatching(/SIGKILL[\s\S]*Segmentation fault/) as unknown,
    });
    expect(rig.reader.attempts.lastOfRun(runId, 9).map(({ status }) => status)).toEqual([
      "interrupted",
      "interrupted",
      "interrupted",
    ]);
  });

  test("before it attached takes nothing with it", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.hears("bootstrap");
    worker.dies(KILLED);
    const second = await rig.supervisor.worker();
    expect((await second.begins()).attempt).toBe(1);
    expect(rig.events(runId)).toEqual(["admit", "launch", "interrupt", "launch", "attach"]);
  });

  test("has the proposal that it sent before settled first", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.begins();
    worker.says(advance("end"));
    worker.dies(KILLED);
    const second = await rig.supervisor.worker();
    await second.hears("bootstrap");
    expect(rig.run(runId).node).toBe("end");
    expect(rig.events(runId)).toEqual([
      "admit",
      "launch",
      "attach",
      "advance",
      "interrupt",
      "launch",
    ]);
  });

  test("has it settled also while the disk is full, for as long as the host lives", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.begins();
    rig.store.trouble = "STORAGE_FULL";
    worker.says(advance("end"));
    worker.dies(KILLED);
    await rig.seconds(60);
    expect(rig.run(runId)).toMatchObject({ status: "running", node: "hub" });
    rig.store.trouble = undefined;
    await rig.seconds(1);
    await rig.supervisor.worker();
    expect(rig.run(runId)).toMatchObject({ node: "end", generation: 2 });
  });

  test("does not let its run be launched before its tree is gone and that is stored", async () => {
    const rig = new SchedulerRig();
    const { promise: gone, resolve: confirmGone } = Promise.withResolvers<void>();
    const { runId, worker } = await rig.launched();
    await worker.begins();
    rig.supervisor.holdTrees = gone;
    worker.dies(KILLED);
    await rig.reaches(runId, "queued");
    await rig.seconds(3);
    expect(rig.supervisor.unclaimed).toBe(0);
    expect(rig.reader.workers.get(worker.id)?.endedAt).toBeUndefined();
    confirmGone();
    await rig.supervisor.worker();
    expect(rig.reader.workers.get(worker.id)).toMatchObject({
      endedAt: expect.any(Number) as unknown,
      exitSignal: "SIGKILL",
    });
  });
});

describe("a worker that dies while an effect is being applied", () => {
  test("leaves a manual one to a person", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("deploy");
    await worker.begins();
    worker.says(effectBegin("manual"));
    await worker.hears("effect");
    worker.dies(KILLED);
    await rig.idle();
    expect(rig.run(runId)).toMatchObject({ status: "blocked", blockReason: "effect_ambiguous" });
  });

  test("leaves an idempotent one to the next worker, which observes first if it can", async () => {
    const rig = new SchedulerRig();
    const { worker } = await rig.launched("mail");
    await worker.begins();
    worker.says(effectBegin("idempotent"));
    await worker.hears("effect");
    worker.dies(KILLED);
    const second = await rig.supervisor.worker();
    await second.begins();
    second.says(effectBegin("idempotent"));
    expect((await second.hears("effect")).kind).toBe(GrantKind.OBSERVE);
  });
});

describe("author code that ends its process", () => {
  test("fails its attempt with the worker's last words, and is routed", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    const message = "the node called process.exit(3)";
    worker.says(exiting({ name: "ProcessExit", message }));
    worker.dies({ cause: "exit", code: 3 });
    const second = await rig.supervisor.worker();
    expect((await second.begins()).kind).toBe(ActivationKind.VERDICT);
    expect(rig.reader.attempts.newest(runId)).toMatchObject({
      status: "failed",
      error: { name: "ProcessExit", message },
    });
    expect(rig.run(runId).noProgress).toBe(0);
  });

  test("is not waited for: the verdict is stored, then the process is killed", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    worker.says(exiting({ name: "UnhandledRejection", message: "nobody caught it" }));
    // The engine saw the call throw, and proposes the same.
    worker.says(fail("ProcessExit"));
    await worker.hears("lost");
    await (await rig.supervisor.worker()).hears("bootstrap");
    expect(worker.signals).toEqual(["kill"]);
    expect(rig.events(runId)).toEqual(["admit", "launch", "attach", "verdict", "launch"]);
    expect(rig.reader.workers.get(worker.id)?.exitReason).toContain("nobody caught it; ");
  });

  test("after its result was proposed leaves that result alone, and the next attempt", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("hub");
    await worker.begins();
    worker.says(advance("end"));
    worker.says(exiting({ name: "ProcessExit", message: "exit(0)" }));
    const second = await rig.supervisor.worker();
    expect((await second.begins()).kind).toBe(ActivationKind.CONTINUE);
    const attempts = rig.reader.attempts.lastOfRun(runId, 3);
    expect(attempts.map(({ node, status }) => `${node} ${status}`)).toEqual([
      "hub ok",
      "end interrupted",
      "end running",
    ]);
  });

  test("after its effect was asked for fails the same attempt", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("mail");
    await worker.begins();
    worker.says(effectBegin("idempotent"));
    worker.says(exiting({ name: "ProcessExit", message: "exit(0)" }));
    const second = await rig.supervisor.worker();
    expect((await second.begins()).kind).toBe(ActivationKind.VERDICT);
    expect(rig.reader.attempts.newest(runId)).toMatchObject({ node: "mail", status: "failed" });
  });

  test("for want of memory fails its attempt, saying so", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    worker.dies({ cause: "out_of_memory", signal: "SIGABRT" });
    await rig.supervisor.worker();
    expect(rig.reader.attempts.newest(runId)).toMatchObject({
      status: "failed",
      error: { name: "OutOfMemory", message: expect.stringContaining("memory") as unknown },
    });
  });

  test("while it is loaded blocks the run: trying again gives the same", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.hears("bootstrap");
    worker.says(exiting({ name: "ProcessExit", message: "the file called process.exit(1)" }));
    worker.dies({ cause: "exit", code: 1 });
    await rig.idle();
    expect(rig.run(runId)).toMatchObject({
      status: "blocked",
      blockReason: "no_progress",
      detail: expect.stringContaining("process.exit(1)") as unknown,
    });
  });
});
