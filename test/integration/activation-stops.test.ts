/**
 * Runs that end their activation for a reason outside the worker: files that
 * cannot be loaded, a person who pauses or cancels, a disk without space.
 */
import { describe, expect, test } from "vitest";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { ActivationKind } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { EffectOutcomeKind } from "../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { FakeWorker, json } from "../support/fake-worker.ts";
import { SchedulerRig, turns } from "../support/scheduler-rig.ts";
import { hubAt } from "../support/test-host.ts";
import { advance, effectBegin, loadFailed } from "../support/worker-frames.ts";

const KILLED = { cause: "signal", signal: "SIGKILL" } as const;
const EXITED = { cause: "exit", code: 0 } as const;

describe("a workflow that cannot be loaded", () => {
  test("blocks its run before a module is evaluated when a source differs", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.hears("bootstrap");
    const files = ["/project/hub.workflow.ts", "/project/helper.ts"];
    worker.says(loadFailed(Reason.SOURCE_CHANGED, "2 files changed", files));
    await rig.reaches(runId, "blocked");
    expect(rig.run(runId)).toMatchObject({ blockReason: "source_changed", changedFiles: files });
    // One that stays is not waited for.
    worker.obeys = false;
    await rig.seconds(2);
    await rig.idle();
    expect(worker.signals).toEqual(["kill"]);
  });

  test("in a preloaded spare only is given to a worker that has loaded nothing", async () => {
    const rig = new SchedulerRig();
    const want = { workflowPath: "/project/hub.workflow.ts", projectDir: "/project" };
    rig.supervisor.prepared.push(new FakeWorker(rig.at.clock, want));
    const { runId, worker } = await rig.launched();
    await worker.hears("bootstrap");
    worker.says(loadFailed(Reason.SOURCE_CHANGED, "changed", ["/project/hub.workflow.ts"]));
    const second = await rig.supervisor.worker();
    expect(rig.supervisor.wishes.map(({ fresh }) => fresh)).toEqual([false, true]);
    await second.begins();
    expect(rig.run(runId)).toMatchObject({ status: "running", noProgress: 0 });
    second.says(effectBegin("manual"));
  });

  test("is not begun in a spare that was preloaded before a file of it changed", async () => {
    const rig = new SchedulerRig();
    const want = { workflowPath: "/project/hub.workflow.ts", projectDir: "/project" };
    const spare = new FakeWorker(rig.at.clock, want);
    const clean = new FakeWorker(rig.at.clock);
    rig.supervisor.prepared.push(spare, clean);
    rig.changes.set("/project/helper.ts", rig.at.clock.now() + 1);
    const content = Buffer.from("export {};");
    const helper = { path: "/project/helper.ts", kind: "file", size: 10 } as const;
    const digest = sha256Hex(content);
    const runId = await rig.admit({
      graph: hubAt("hub"),
      sources: [{ ...helper, digest, content }],
    });
    await clean.begins();
    expect(spare.signals).toEqual(["stop RETIRED 2000"]);
    expect(rig.supervisor.wishes.map(({ fresh }) => fresh)).toEqual([false, true]);
    expect(rig.events(runId)).toEqual(["admit", "launch", "attach"]);
  });

  test("though nothing of it changed keeps the committed work until somebody mends it", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.hears("bootstrap");
    worker.says(loadFailed(Reason.WORKFLOW_INVALID, "API_KEY is not set"));
    await rig.reaches(runId, "blocked");
    expect(rig.run(runId)).toMatchObject({
      blockReason: "no_progress",
      detail: "the workflow cannot be loaded any more: API_KEY is not set",
    });
    worker.dies(EXITED);
    await rig.idle();
    await rig.resume(runId);
    const second = await rig.supervisor.worker();
    expect((await second.begins()).kind).toBe(ActivationKind.START);
  });

  test("within fifteen seconds counts as a worker that died", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.hears("bootstrap");
    await rig.seconds(15);
    expect(worker.signals).toEqual(["kill"]);
    await rig.supervisor.worker();
    expect(rig.run(runId).noProgress).toBe(1);
  });
});

describe("a run that a person stops", () => {
  test.each([
    ["pause", "PAUSE", "paused"],
    ["cancel", "CANCEL", "cancelled"],
  ] as const)(
    "by %s asks its worker to end, and kills one that does not",
    async (how, why, status) => {
      const rig = new SchedulerRig();
      const { runId, worker } = await rig.launched("flaky");
      worker.obeys = false;
      await worker.begins();
      await rig[how](runId);
      expect(rig.run(runId).status).toBe(status);
      expect(worker.signals).toEqual([`stop ${why} 2000`]);
      await rig.seconds(1);
      expect(worker.signals).toHaveLength(1);
      await rig.seconds(1);
      await rig.idle();
      expect(worker.signals.at(-1)).toBe("kill");
      expect(rig.supervisor.ended.map(({ workerId }) => workerId)).toContain(worker.id);
      expect(rig.run(runId).status).toBe(status);
    },
  );

  test("in the very commit of a step asks the worker of that step to end", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    worker.obeys = false;
    await worker.begins();
    await Promise.all([worker.advances("end"), rig.pause(runId)]);
    expect(rig.events(runId).slice(-2)).toEqual(["advance", "pause"]);
    expect(worker.signals).toEqual(["stop PAUSE 2000"]);
    worker.dies(KILLED);
    await rig.idle();
  });

  test("while its worker loads is not begun", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    worker.obeys = false;
    await worker.hears("bootstrap");
    await rig.cancel(runId);
    worker.says({ case: "ready", value: {} });
    await worker.hears("lost");
    worker.dies(EXITED);
    await rig.idle();
    expect(rig.events(runId)).toEqual(["admit", "launch", "cancel"]);
  });

  test("while an effect is being applied lands in pause when that is settled", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("mail");
    await worker.begins();
    worker.says(effectBegin("idempotent"));
    const { effectId } = await worker.hears("effect");
    await rig.pause(runId);
    expect(rig.run(runId)).toMatchObject({ status: "running", pauseRequested: true });
    expect(worker.signals).toEqual([]);
    worker.says(
      advance("end", { effectId, kind: EffectOutcomeKind.APPLIED, receiptJson: json(1) }),
    );
    expect((await worker.hears("ack")).parked).toBe(true);
    expect(rig.run(runId)).toMatchObject({ status: "paused", node: "end" });
  });

  test("and lets go on while its worker still ends is launched when that has ended", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    worker.obeys = false;
    worker.mortal = false;
    await worker.begins();
    await rig.pause(runId);
    await rig.resume(runId);
    expect(rig.run(runId).status).toBe("queued");
    await rig.seconds(3);
    expect(rig.supervisor.unclaimed).toBe(0);
    worker.dies(KILLED);
    const second = await rig.supervisor.worker();
    await second.begins();
    expect(rig.run(runId)).toMatchObject({ status: "running", noProgress: 0 });
  });
});

describe("a disk that is full", () => {
  test("makes a proposal wait, is asked every second, and answers it once", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.begins();
    rig.store.trouble = "STORAGE_FULL";
    const advanced = worker.advances("end");
    await turns();
    await rig.seconds(5);
    const tries = rig.store.asked.filter((name) => name === "advance").length;
    expect(tries).toBe(6);
    expect(worker.told.at(-1)?.body.case).toBe("begin");
    rig.store.trouble = undefined;
    await rig.seconds(1);
    await advanced;
    await turns();
    expect(rig.events(runId)).toEqual(["admit", "launch", "attach", "advance"]);
    expect(worker.signals).toEqual([]);
  });

  test("leaves a parked run's process record to be written when there is room", async () => {
    const rig = new SchedulerRig();
    const { worker } = await rig.launched("end");
    await worker.begins();
    await worker.finishes();
    rig.store.trouble = "STORAGE_FULL";
    worker.dies(EXITED);
    await rig.seconds(3);
    expect(rig.reader.workers.get(worker.id)?.endedAt).toBeUndefined();
    rig.store.trouble = undefined;
    await rig.seconds(1);
    expect(rig.reader.workers.get(worker.id)?.endedAt).toEqual(expect.any(Number));
  });
});
