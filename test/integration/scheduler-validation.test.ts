/** Submissions: validated ahead of new work, and never held up by it. */
import { describe, expect, test } from "vitest";
import { InteractionKind } from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { ActivationKind, StateKind } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { AttemptOutcome } from "../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import { VALIDATION_MS, VALIDATION_PLACES } from "../../src/host/limits.ts";
import { submitResult } from "../../src/host/operations/submissions.ts";
import { hubAt } from "../support/test-host.ts";
import { json } from "../support/fake-worker.ts";
import type { FakeWorker } from "../support/fake-worker.ts";
import { SchedulerRig, turns } from "../support/scheduler-rig.ts";

const EXITED = { cause: "exit", code: 0 } as const;
const KILLED = { cause: "signal", signal: "SIGKILL" } as const;

/** A run that waits for a model's result. */
async function waiting(rig: SchedulerRig): Promise<string> {
  const { runId, worker } = await rig.launched("think");
  await worker.begins();
  const value = { kind: InteractionKind.AGENT, summary: "Think", prompt: "Think hard." };
  worker.says({ case: "interaction", value });
  await worker.hears("ack");
  worker.dies(EXITED);
  await rig.reaches(runId, "waiting");
  await rig.idle();
  return runId;
}

async function submit(rig: SchedulerRig, runId: string): Promise<void> {
  const interactionId = rig.reader.interactions.open(runId)?.interactionId ?? "";
  const asked = rig.asked("SubmitResult");
  await submitResult(rig.host, asked, { interactionId, valueJson: '{"thought":1}' });
}

/** The worker that validates what was just submitted. */
async function validating(rig: SchedulerRig, runId: string): Promise<FakeWorker> {
  await submit(rig, runId);
  const worker = await rig.supervisor.worker();
  expect((await worker.begins()).kind).toBe(ActivationKind.VALIDATE);
  return worker;
}

function errorOf(rig: SchedulerRig, runId: string): string {
  return rig.reader.interactions.open(runId)?.lastError ?? "";
}

describe("a submission", () => {
  test("is brought to the worker with the run, and accepted by its advance", async () => {
    const rig = new SchedulerRig();
    const runId = await waiting(rig);
    const worker = await validating(rig, runId);
    const states = worker.told.flatMap(({ body }) => (body.case === "state" ? [body.value] : []));
    const submission = states.find(({ kind }) => kind === StateKind.SUBMISSION);
    expect(Buffer.from(submission?.json ?? []).toString()).toBe('{"thought":1}');
    worker.says({
      case: "advance",
      value: {
        result: { outcome: AttemptOutcome.OK, outputJson: json({ thought: 1 }) },
        follow: { case: "next", value: { node: "end" } },
      },
    });
    expect((await worker.hears("ack")).parked).toBe(false);
    expect(rig.run(runId)).toMatchObject({ status: "running", node: "end" });
    await worker.finishes();
    worker.dies(EXITED);
    await rig.reaches(runId, "completed");
  });

  test("is refused in the author's words, and the request is open again", async () => {
    const rig = new SchedulerRig();
    const runId = await waiting(rig);
    const worker = await validating(rig, runId);
    worker.says({ case: "rejected", value: { message: "thought must be a text" } });
    expect((await worker.hears("ack")).parked).toBe(true);
    worker.dies(EXITED);
    await rig.reaches(runId, "waiting");
    expect(errorOf(rig, runId)).toBe("thought must be a text");
    await rig.idle();
  });

  test.each([
    ["dies", (worker: FakeWorker) => worker.dies(KILLED)],
    ["cannot load the workflow in time", (worker: FakeWorker) => worker.kill()],
  ])("is rejected when its worker %s", async (_, end) => {
    const rig = new SchedulerRig();
    const runId = await waiting(rig);
    await submit(rig, runId);
    const worker = await rig.supervisor.worker();
    await worker.hears("bootstrap");
    end(worker);
    const run = await rig.reaches(runId, "waiting");
    expect(run.noProgress).toBe(0);
    expect(errorOf(rig, runId)).toContain("submit the result again");
    await rig.idle();
  });

  test("is rejected when its validation takes too long, and the worker is ended", async () => {
    const rig = new SchedulerRig();
    const runId = await waiting(rig);
    const worker = await validating(rig, runId);
    await rig.seconds(VALIDATION_MS / 1_000 - 1);
    expect(rig.run(runId).status).toBe("running");
    await rig.seconds(6);
    await rig.reaches(runId, "waiting");
    expect(worker.signals).toContain("kill");
    expect(errorOf(rig, runId)).toContain("submit the result again");
    await rig.idle();
  });

  test("is validated again after the host stopped in the middle of it", async () => {
    const rig = new SchedulerRig();
    const runId = await waiting(rig);
    await validating(rig, runId);
    await rig.stop(true);
    expect(rig.run(runId)).toMatchObject({ status: "queued", activation: "validate" });
    expect(errorOf(rig, runId)).toBe("");
  });
});

describe("the places of validations", () => {
  test("are beside the capacity, and as many as promised", async () => {
    const rig = new SchedulerRig({ capacity: 1 });
    const waits: string[] = [];
    for (let number = 0; number < VALIDATION_PLACES + 1; number += 1)
      waits.push(await waiting(rig));
    const long = await rig.launched("end");
    await long.worker.begins();
    await rig.admit({ graph: hubAt("end") });
    await turns();
    expect(rig.supervisor.unclaimed).toBe(0);
    for (const runId of waits) await submit(rig, runId);
    await turns();
    expect(rig.supervisor.unclaimed).toBe(VALIDATION_PLACES);
    const first = await rig.supervisor.worker();
    await first.begins();
    first.says({ case: "rejected", value: { message: "no" } });
    await first.hears("ack");
    first.dies(EXITED);
    await turns();
    expect(rig.supervisor.unclaimed).toBe(VALIDATION_PLACES);
  });

  test("go before new work in a place that becomes free", async () => {
    const rig = new SchedulerRig({ capacity: 1 });
    const runId = await waiting(rig);
    const { worker } = await rig.launched("end");
    await worker.begins();
    await rig.admit({ graph: hubAt("end"), priority: 100 });
    await submit(rig, runId);
    const next = await rig.supervisor.worker();
    expect(await next.hears("bootstrap")).toMatchObject({ runId });
  });
});
