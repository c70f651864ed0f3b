/**
 * A host that stops launches nothing more, lets effects that are being applied
 * come to their end, and takes the rest of its workers' runs back to the queue.
 */
import { describe, expect, test } from "vitest";
import { EffectOutcomeKind } from "../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import { json } from "../support/fake-worker.ts";
import { SchedulerRig, turns } from "../support/scheduler-rig.ts";
import { hubAt } from "../support/test-host.ts";
import { advance, effectBegin } from "../support/worker-frames.ts";

describe("a host that stops", () => {
  test("takes its runs back without counting it against them", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    const began = rig.at.clock.monotonic();
    await rig.scheduler.drain(false);
    expect(rig.at.clock.monotonic()).toBe(began);
    expect(worker.signals).toEqual(["stop HOST_STOPPING 100"]);
    expect(rig.run(runId)).toMatchObject({ status: "queued", noProgress: 0 });
    expect(rig.reader.workers.get(worker.id)?.endedAt).toEqual(expect.any(Number) as unknown);
  });

  test("launches nothing more, not even what is due", async () => {
    const rig = new SchedulerRig({ capacity: 1 });
    const { worker } = await rig.launched("flaky");
    await worker.begins();
    const runId = await rig.admit({ graph: hubAt("end") });
    await rig.scheduler.drain(false);
    await rig.seconds(5);
    expect(rig.supervisor.wishes).toHaveLength(1);
    expect(rig.run(runId).status).toBe("queued");
  });

  test("kills a worker that does not end by itself", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    worker.obeys = false;
    await worker.begins();
    await rig.stop(false);
    expect(worker.signals).toEqual(["stop HOST_STOPPING 100", "kill"]);
    expect(rig.run(runId)).toMatchObject({ status: "queued", noProgress: 0 });
  });

  test("waits for an effect that is being applied, then stops its worker", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("deploy");
    await worker.begins();
    worker.says(effectBegin("manual"));
    const { effectId } = await worker.hears("effect");
    const drained = rig.scheduler.drain(false);
    await rig.seconds(5);
    expect(worker.signals).toEqual([]);
    worker.says(
      advance("end", { effectId, kind: EffectOutcomeKind.APPLIED, receiptJson: json(1) }),
    );
    await drained;
    expect(worker.signals).toEqual(["stop HOST_STOPPING 100"]);
    expect(rig.reader.effects.get(effectId)?.status).toBe("applied");
    expect(rig.run(runId)).toMatchObject({ status: "queued", node: "end", noProgress: 0 });
  });

  test("waits ten seconds for it and no longer; then a person has to say", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("deploy");
    await worker.begins();
    worker.says(effectBegin("manual"));
    const { effectId } = await worker.hears("effect");
    const drained = rig.scheduler.drain(false);
    await rig.seconds(9);
    expect(worker.signals).toEqual([]);
    await rig.seconds(1);
    await drained;
    expect(rig.reader.effects.get(effectId)?.status).toBe("ambiguous");
    expect(rig.run(runId)).toMatchObject({ status: "blocked", blockReason: "effect_ambiguous" });
  });

  test("in a hurry waits for no effect", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("mail");
    await worker.begins();
    worker.says(effectBegin("idempotent"));
    await worker.hears("effect");
    await rig.scheduler.drain(true);
    expect(worker.signals).toEqual(["stop HOST_STOPPING 100"]);
    expect(rig.run(runId).status).toBe("queued");
  });

  test("takes back a run whose launch is just being stored", async () => {
    const rig = new SchedulerRig();
    const { promise: space, resolve: free } = Promise.withResolvers<void>();
    const runId = await rig.admit({ graph: hubAt("flaky") });
    rig.store.hold = space;
    const worker = await rig.supervisor.worker();
    await turns();
    const drained = rig.scheduler.drain(false);
    rig.store.hold = undefined;
    free();
    await drained;
    expect(worker.signals).toEqual(["stop HOST_STOPPING 100"]);
    expect(rig.run(runId)).toMatchObject({ status: "queued", generation: 1, noProgress: 0 });
  });

  test("does not hang on a full disk: the next start decides from the rows", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    rig.store.trouble = "STORAGE_FULL";
    await rig.scheduler.drain(false);
    rig.store.trouble = undefined;
    expect(rig.run(runId).status).toBe("running");
    expect(rig.supervisor.ended.map(({ workerId }) => workerId)).toEqual([worker.id]);
  });
});
