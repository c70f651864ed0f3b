/** Who runs, when, and in which of the few places. */
import { InteractionKind } from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { describe, expect, test } from "vitest";
import { ActivationKind } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { SpawnFailed } from "../../src/host/supervisor/supervised-worker.ts";
import { answerCheckpoint } from "../../src/host/operations/interactions.ts";
import { admitRun } from "../../src/host/operations/runs.ts";
import { FakeWorker, json } from "../support/fake-worker.ts";
import { SchedulerRig, turns } from "../support/scheduler-rig.ts";
import { admission, hubAt } from "../support/test-host.ts";

const EXITED = { cause: "exit", code: 0 } as const;
const KILLED = { cause: "signal", signal: "SIGKILL" } as const;

describe("the places", () => {
  test("are as many as the capacity, and a place is free when its tree is gone", async () => {
    const rig = new SchedulerRig({ capacity: 2 });
    const runIds: string[] = [];
    for (let number = 0; number < 4; number += 1) {
      runIds.push(await rig.admit({ graph: hubAt("end") }));
    }
    await turns();
    expect(rig.supervisor.unclaimed).toBe(2);
    const first = await rig.supervisor.worker();
    await first.begins();
    await first.finishes();
    const { promise: gone, resolve: confirmGone } = Promise.withResolvers<void>();
    rig.supervisor.holdTrees = gone;
    first.dies(EXITED);
    await rig.seconds(2);
    expect(rig.supervisor.unclaimed).toBe(1);
    expect(rig.run(runIds[0] ?? "").status).toBe("completed");
    rig.supervisor.holdTrees = undefined;
    confirmGone();
    await rig.supervisor.worker();
    await rig.supervisor.worker();
    await turns();
    expect(rig.supervisor.wishes).toHaveLength(3);
    expect(rig.run(runIds[3] ?? "").status).toBe("queued");
  });

  test("go to another project before the flood of one", async () => {
    const rig = new SchedulerRig({ capacity: 2 });
    const flood = { ...admission(), graph: hubAt("end"), projectDir: "/flood" };
    await Promise.all(
      Array.from({ length: 200 }, () => admitRun(rig.host, rig.asked("StartRun"), flood)),
    );
    const lone = await rig.admit({ graph: hubAt("end"), projectDir: "/lone" });
    const first = await rig.supervisor.worker();
    await first.begins();
    await first.finishes();
    first.dies(EXITED);
    await rig.supervisor.worker();
    const next = await rig.supervisor.worker();
    expect(await next.hears("bootstrap")).toMatchObject({ runId: lone });
  });

  test("go to a higher priority first", async () => {
    const rig = new SchedulerRig({ capacity: 1 });
    const { worker } = await rig.launched("end");
    await rig.admit({ graph: hubAt("end") });
    const urgent = await rig.admit({ graph: hubAt("end"), priority: 10 });
    await worker.begins();
    await worker.finishes();
    worker.dies(EXITED);
    const next = await rig.supervisor.worker();
    expect(await next.hears("bootstrap")).toMatchObject({ runId: urgent });
  });

  test("are not taken by runs that wait for an answer", async () => {
    const rig = new SchedulerRig({ capacity: 1 });
    const { runId, worker } = await rig.launched("ask");
    await worker.begins();
    worker.says({
      case: "interaction",
      value: { kind: InteractionKind.CHECKPOINT, summary: "Ship?", requestJson: json({}) },
    });
    expect((await worker.hears("ack")).parked).toBe(true);
    worker.dies(EXITED);
    const other = await rig.launched("end");
    await other.worker.begins();
    await other.worker.finishes();
    other.worker.dies(EXITED);
    await rig.idle();
    const interaction = rig.reader.interactions.open(runId);
    await answerCheckpoint(rig.host, rig.asked("AnswerCheckpoint"), {
      interactionId: interaction?.interactionId ?? "",
      answerJson: "true",
    });
    const next = await rig.supervisor.worker();
    expect((await next.begins()).kind).toBe(ActivationKind.ANSWERED);
  });
});

describe("a worker", () => {
  test("that resolved the run's file is the one that executes it", async () => {
    const rig = new SchedulerRig();
    const worker = new FakeWorker(rig.at.clock);
    const runId = await rig.admit({ graph: hubAt("end") });
    rig.scheduler.offer(runId, { worker });
    expect(await worker.hears("bootstrap")).toMatchObject({ runId, justResolved: true });
    expect(rig.supervisor.wishes).toEqual([]);
    worker.says({ case: "ready", value: {} });
    await worker.hears("begin");
    await worker.finishes();
    expect(rig.run(runId).status).toBe("completed");
  });

  test("is not kept for a run that has to wait", async () => {
    const rig = new SchedulerRig({ capacity: 1 });
    await rig.launched();
    const worker = new FakeWorker(rig.at.clock);
    const runId = await rig.admit();
    rig.scheduler.offer(runId, { worker });
    await turns();
    expect(worker.signals).toEqual(["stop RETIRED 2000"]);
    expect(rig.run(runId).status).toBe("queued");
  });

  test("that died while it was held is replaced", async () => {
    const rig = new SchedulerRig();
    const worker = new FakeWorker(rig.at.clock);
    worker.dies(KILLED);
    const runId = await rig.admit();
    rig.scheduler.offer(runId, { worker });
    const other = await rig.supervisor.worker();
    expect(await other.hears("bootstrap")).toMatchObject({ runId, justResolved: false });
  });

  test("is preloaded with what was used last, once the run has begun", async () => {
    const rig = new SchedulerRig();
    const { worker } = await rig.launched();
    await worker.hears("bootstrap");
    expect(rig.supervisor.remembered).toEqual([]);
    worker.says({ case: "ready", value: {} });
    await worker.hears("begin");
    expect(rig.supervisor.remembered).toEqual([
      { workflowPath: "/project/hub.workflow.ts", projectDir: "/project" },
    ]);
  });

  test("that cannot be started leaves the run queued, and is tried again after a second", async () => {
    const rig = new SchedulerRig();
    rig.supervisor.prepared.push(new SpawnFailed("spawn", "EAGAIN"));
    const runId = await rig.admit();
    await turns();
    expect(rig.run(runId).status).toBe("queued");
    expect(rig.supervisor.wishes).toHaveLength(1);
    await rig.seconds(1);
    await rig.supervisor.worker();
    expect(rig.run(runId)).toMatchObject({ generation: 1, noProgress: 0 });
  });

  test("whose launch cannot be stored is kept for the next try", async () => {
    const rig = new SchedulerRig();
    await turns();
    const runId = await rig.admit();
    rig.store.trouble = "STORAGE_FULL";
    const worker = await rig.supervisor.worker();
    await rig.seconds(5);
    expect(rig.run(runId).status).toBe("queued");
    rig.store.trouble = undefined;
    await rig.seconds(2);
    expect(await worker.hears("bootstrap")).toMatchObject({ runId });
    expect(rig.supervisor.wishes).toHaveLength(1);
  });

  test("found for a run that was cancelled meanwhile is given back", async () => {
    const rig = new SchedulerRig();
    const runId = await rig.admit();
    const cancelled = rig.cancel(runId);
    const worker = await rig.supervisor.worker();
    await cancelled;
    await rig.idle();
    expect(worker.told).toEqual([]);
    expect(worker.signals).toEqual(["stop RETIRED 2000"]);
  });
});

describe("time", () => {
  test("launches a delayed run when it is due, and not before", async () => {
    const rig = new SchedulerRig();
    const notBefore = rig.at.clock.now() + 90_500;
    await rig.admit({ notBefore });
    await rig.seconds(90);
    expect(rig.supervisor.unclaimed).toBe(0);
    rig.at.clock.advance(500);
    await rig.supervisor.worker();
    expect(rig.at.clock.now()).toBe(notBefore);
  });

  test("of thirty days is waited out", async () => {
    const rig = new SchedulerRig();
    await rig.admit({ notBefore: rig.at.clock.now() + 30 * 86_400_000 });
    await rig.seconds(3);
    expect(rig.supervisor.unclaimed).toBe(0);
  });

  test("that is set forward lets everything due fire once, in due order", async () => {
    const rig = new SchedulerRig();
    const runIds: string[] = [];
    for (const delayMs of [3_600_000, 1_800_000]) {
      const { runId, worker } = await rig.launched("nap");
      await worker.begins();
      const dueAtMs = BigInt(rig.at.clock.now() + delayMs);
      worker.says({ case: "wait", value: { dueAtMs } });
      expect((await worker.hears("ack")).parked).toBe(true);
      worker.dies(EXITED);
      runIds.push(runId);
    }
    await rig.idle();
    rig.at.clock.setWall(rig.at.clock.now() + 7_200_000);
    await rig.seconds(1);
    for (let number = 0; number < 2; number += 1) {
      const worker = await rig.supervisor.worker();
      expect((await worker.begins()).kind).toBe(ActivationKind.EXPIRED);
    }
    await rig.seconds(5);
    const settled = runIds.map((runId) =>
      rig.reader.events.ofRun(runId, 0, 99).filter(({ kind }) => kind === "settle"),
    );
    expect(settled.map((events) => events.length)).toEqual([1, 1]);
    const [later, sooner] = settled.map(([event]) => event?.position ?? 0);
    expect(sooner).toBeLessThan(later ?? 0);
  });

  test("that is set back holds up no run that waits for a place", async () => {
    const rig = new SchedulerRig({ capacity: 1 });
    const { worker } = await rig.launched("end");
    const waiting = await rig.admit({ graph: hubAt("end") });
    await worker.begins();
    rig.at.clock.setWall(rig.at.clock.now() - 7_200_000);
    await worker.finishes();
    worker.dies(EXITED);
    const next = await rig.supervisor.worker();
    expect(await next.hears("bootstrap")).toMatchObject({ runId: waiting });
  });

  test("that is set back and forth fires a timer once, when the clock says so", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("nap");
    await worker.begins();
    worker.says({ case: "wait", value: { dueAtMs: BigInt(rig.at.clock.now() + 5_000) } });
    await worker.hears("ack");
    worker.dies(EXITED);
    await rig.idle();
    rig.at.clock.setWall(rig.at.clock.now() - 7_200_000);
    await rig.seconds(5);
    expect(rig.run(runId).status).toBe("waiting");
    rig.at.clock.setWall(rig.at.clock.now() + 7_200_000);
    await rig.seconds(1);
    await rig.supervisor.worker();
    expect(rig.events(runId).filter((kind) => kind === "settle")).toHaveLength(1);
  });

  test("lets a question expire", async () => {
    const rig = new SchedulerRig();
    const { worker } = await rig.launched("ask");
    await worker.begins();
    const kind = InteractionKind.CHECKPOINT;
    const value = { kind, summary: "Ship?", requestJson: json({}), timeoutMs: 60_000n };
    worker.says({ case: "interaction", value });
    await worker.hears("ack");
    worker.dies(EXITED);
    await rig.idle();
    rig.at.clock.advance(60_000);
    const next = await rig.supervisor.worker();
    expect((await next.begins()).kind).toBe(ActivationKind.EXPIRED);
  });

  test("that cannot be settled for want of space is settled when there is some", async () => {
    const rig = new SchedulerRig();
    const { worker } = await rig.launched("nap");
    await worker.begins();
    worker.says({ case: "wait", value: { dueAtMs: BigInt(rig.at.clock.now() + 2_000) } });
    await worker.hears("ack");
    worker.dies(EXITED);
    await rig.idle();
    rig.store.trouble = "STORAGE_FULL";
    await rig.seconds(10);
    expect(rig.store.asked.filter((name) => name === "settle").length).toBeLessThan(12);
    rig.store.trouble = undefined;
    await rig.seconds(1);
    await rig.supervisor.worker();
  });
});
