import { describe, expect, test } from "vitest";
import { failValidation } from "../../src/host/operations/submissions.ts";
import { expectRefusal } from "../support/refusal.ts";
import { cancel, pause, resume } from "../support/scenes.ts";
import {
  askingModel,
  interaction,
  newestSubmission,
  submit,
  told,
  validating,
} from "../support/session-scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { next } from "../support/test-worker.ts";

const ACCEPTED = { outcome: "ok", outputJson: '{"title":"ONE"}' } as const;

describe("a validation without a verdict", () => {
  test.each(["starting", "running"])("rejects, when its %s worker died", async (status) => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    await submit(rig, interactionId);
    const worker = await rig.launch(runId);
    if (status === "running") await worker.attach();
    expect(rig.run(runId).status).toBe(status);
    expect(await rig.lose(worker)).toBe("rejected");
    expect(rig.run(runId)).toMatchObject({ status: "waiting", noProgress: 0 });
    expect(newestSubmission(rig, interactionId)).toMatchObject({ reason: "validation_failed" });
    expect(newestSubmission(rig, interactionId).error).toContain("killed by SIGKILL");
    expect(rig.events(runId)).not.toContain("interrupt");
  });

  test("rejects before its worker is stopped, when it took too long", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    const { proof } = worker;
    await rig.sound(failValidation(rig.host, { proof, error: "it took over 30 s" }));
    expect(worker.run.status).toBe("waiting");
    expect(interaction(rig, interactionId).lastError).toBe("it took over 30 s");
    await expectRefusal(worker.advance(ACCEPTED, next("end")), "CLAIM_LOST");
    const late = failValidation(rig.host, { proof, error: "again" });
    await expectRefusal(late, "CLAIM_LOST");
  });

  test("rejects, when the author's code blocked the loop or left the process", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    expect(await worker.judge("timed_out")).toEqual({ outcome: "rejected" });
    expect(newestSubmission(rig, interactionId).error).toContain("it broke");
    expect(rig.reader.attempts.open(worker.runId)?.status).toBe("waiting");
  });

  test("begins again, when it was the host that was lost", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    expect(await rig.lose(worker, { counted: false })).toBe("interrupted");
    expect(worker.run).toMatchObject({ status: "queued", activation: "validate" });
    expect(interaction(rig, interactionId).status).toBe("validating");
    const second = await rig.relaunch(worker.runId);
    expect(second.begin.kind).toBe("validate");
    await second.advance(ACCEPTED, next("end"));
  });

  test.each(["queued", "starting", "running"])(
    "is given up by a pause of a run that is %s, and by a resume asked for again",
    async (status) => {
      const rig = new TestRig();
      const { runId, interactionId } = await askingModel(rig);
      await submit(rig, interactionId);
      const worker = status === "queued" ? undefined : await rig.launch(runId);
      if (status === "running") await worker?.attach();
      expect(rig.run(runId).status).toBe(status);
      await pause(rig, runId);
      expect(rig.run(runId)).toMatchObject({ status: "paused", activation: "continue" });
      expect(newestSubmission(rig, interactionId).reason).toBe("interrupted");
      await resume(rig, runId);
      expect(rig.run(runId).status).toBe("waiting");
      expect(told(rig, runId).at(-1)).toBe("step resumed pending");
    },
  );

  test("is given up by a block, and its request stays for a resume", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    await worker.block({ reason: "source_changed", detail: "changed" });
    expect(newestSubmission(rig, interactionId).reason).toBe("interrupted");
    expect(interaction(rig, interactionId).status).toBe("pending");
    expect(told(rig, worker.runId)).toEqual(["step first cancelled"]);
    await resume(rig, worker.runId);
    expect(worker.run.status).toBe("waiting");
    expect(told(rig, worker.runId).at(-1)).toBe("step resumed pending");
  });

  test("is given up by a cancel, with all that is open", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    await cancel(rig, worker.runId);
    expect(newestSubmission(rig, interactionId).reason).toBe("cancelled");
    expect(interaction(rig, interactionId).status).toBe("cancelled");
  });
});
