import { describe, expect, test } from "vitest";
import type { HostContext } from "../../src/host/context.ts";
import { diagnose } from "../../src/host/diagnosis.ts";
import { recordEffectProcess } from "../../src/host/operations/effects.ts";
import { pauseRun } from "../../src/host/operations/runs.ts";
import { recover } from "../../src/host/recovery.ts";
import type { RecoveryReport } from "../../src/host/recovery.ts";
import { takeEpoch } from "../../src/host/store/doors.ts";
import type { WorkerTrace } from "../../src/host/supervisor/supervisor.ts";
import { reasonOf } from "../support/refusal.ts";
import { arrange } from "../support/scenes.ts";
import { interaction, newestSubmission, shown, validating } from "../support/session-scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { COMPLETE, OK, next } from "../support/test-worker.ts";
import { vandalise } from "../support/vandal.ts";

/** The host that comes after the one of the rig, which is gone without a word. */
async function successor(rig: TestRig): Promise<HostContext> {
  const startedAt = rig.at.clock.now();
  const process = { pid: 2, startTime: "2", bootId: "boot", version: "1", startedAt };
  const epoch = await takeEpoch(rig.at.store, process);
  return { ...rig.host, epoch };
}

interface Recovered {
  readonly report: RecoveryReport;
  readonly host: HostContext;
  readonly reaped: readonly WorkerTrace[];
}

async function recoverNow(rig: TestRig): Promise<Recovered> {
  const host = await successorOf(rig);
  const reaped: WorkerTrace[] = [];
  const report = await recover(host, {
    reap: async (traces) => {
      reaped.push(...traces);
      return { workers: [], processes: traces.length };
    },
  });
  expect(diagnose(rig.reader)).toEqual([]);
  return { report, host, reaped };
}

/** Epochs begin at that of the rig's own host. */
async function successorOf(rig: TestRig): Promise<HostContext> {
  if (rig.reader.epochs.last() === undefined) await successor(rig);
  return successor(rig);
}

describe("a run whose host is gone", () => {
  test("is queued again from the boundary it had reached, and it does not count against it", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await worker.advance(OK, next("end"));
    const { report } = await recoverNow(rig);
    expect(report).toMatchObject({ reaped: 1, interrupted: 1, settled: 0 });
    expect(worker.run).toMatchObject({
      status: "queued",
      node: "end",
      activation: "continue",
      noProgress: 0,
      availableAt: rig.at.clock.now(),
    });
    expect(rig.reader.attempts.newest(worker.runId)?.status).toBe("interrupted");
    expect(rig.reader.claims.open(worker.runId)).toBeUndefined();
  });

  test("is queued again also when its worker had not begun", async () => {
    const rig = new TestRig();
    const worker = await rig.launch(await rig.admit());
    await recoverNow(rig);
    expect(worker.run.status).toBe("queued");
    expect(rig.reader.workers.get(worker.proof.workerId)).toMatchObject({
      exitReason: "its host ended",
    });
  });

  test("is fenced against its old worker and its old host", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const { host } = await recoverNow(rig);
    expect(await reasonOf(worker.advance(OK, next("end")))).toBe("HOST_STOPPING");
    const asked = rig.asked("PauseRun");
    const { runId } = worker;
    expect(await reasonOf(pauseRun(rig.host, asked, { runId, now: false }))).toBe("HOST_STOPPING");
    await pauseRun(host, asked, { runId, now: false });
    expect(worker.run.status).toBe("paused");
  });

  test("needs a person when a manual effect was being applied", async () => {
    const rig = new TestRig();
    const worker = await rig.running("deploy");
    await worker.act();
    await recoverNow(rig);
    expect(worker.run).toMatchObject({ status: "blocked", blockReason: "effect_ambiguous" });
  });

  test("applies an idempotent effect again under its key", async () => {
    const rig = new TestRig();
    const worker = await rig.running("mail");
    const { effectId } = await worker.act();
    await recoverNow(rig);
    expect(worker.run.status).toBe("queued");
    expect(rig.reader.effects.get(effectId)).toMatchObject({
      status: "pending",
      unknownBefore: true,
    });
  });

  test("is paused when somebody had asked for that", async () => {
    const rig = new TestRig();
    const worker = await rig.running("mail");
    await worker.act();
    const { runId } = worker;
    await rig.sound(pauseRun(rig.host, rig.asked("PauseRun"), { runId, now: false }));
    expect(worker.run.pauseRequested).toBe(true);
    await recoverNow(rig);
    expect(worker.run).toMatchObject({ status: "paused", pauseRequested: false });
  });

  test("has its processes ended before anything else, commands in groups of their own too", async () => {
    const rig = new TestRig();
    const worker = await rig.running("deploy");
    const { effectId } = await worker.act();
    const command = { effectId, pid: 99, startTime: "9", bootId: "boot" };
    await recordEffectProcess(rig.host, worker.proof, command);
    const { reaped } = await recoverNow(rig);
    expect(reaped).toEqual([
      {
        workerId: worker.proof.workerId,
        pid: 4_711,
        startTime: "100",
        bootId: "boot",
        groups: [{ pid: 99, startTime: "9" }],
      },
    ]);
  });
});

describe("what waits", () => {
  test("is settled when its time came while there was no host", async () => {
    const rig = new TestRig();
    const asking = await rig.running("ask");
    await asking.ask({ timeoutMs: 1_000 });
    const sleeping = await rig.running("nap");
    await sleeping.wait(2_000);
    const patient = await rig.running("ask");
    await patient.ask();
    rig.at.clock.advance(5_000);
    const { report } = await recoverNow(rig);
    expect(report).toMatchObject({ interrupted: 0, settled: 2 });
    expect(asking.run).toMatchObject({ status: "queued", activation: "expired" });
    expect(sleeping.run).toMatchObject({ status: "queued", routing: true });
    expect(patient.run.status).toBe("waiting");
  });
});

describe("a result that was being validated", () => {
  test.each(["queued for a validation", "validating"])(
    "is validated again, whether its run was %s",
    async (scene) => {
      const rig = new TestRig();
      const runId = await arrange(rig, scene);
      const { report } = await recoverNow(rig);
      expect(report.settled).toBe(0);
      expect(rig.run(runId)).toMatchObject({ status: "queued", activation: "validate" });
      expect(rig.reader.submissions.validating(runId)?.status).toBe("validating");
    },
  );

  test("is too late when its deadline passed while there was no host", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig, { timeoutMs: 1_000 });
    const patient = await validating(rig, { timeoutMs: 9_000 });
    rig.at.clock.advance(5_000);
    const { report } = await recoverNow(rig);
    expect(report).toMatchObject({ interrupted: 2, settled: 1 });
    expect(worker.run).toMatchObject({ status: "queued", activation: "expired" });
    expect(newestSubmission(rig, interactionId)).toMatchObject({
      status: "rejected",
      reason: "expired",
    });
    expect(interaction(rig, interactionId).status).toBe("expired");
    expect(patient.worker.run.activation).toBe("validate");
  });
});

describe("an end that its session was not told", () => {
  test("is told by the host that starts", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "end");
    await worker.advance(OK, COMPLETE);
    vandalise(rig.at.path, worker.runId, ["DELETE FROM messages"]);
    const { report } = await recoverNow(rig);
    expect(report.told).toBe(1);
    expect(rig.reader.messages.resultOfRun(worker.runId)?.status).toBe("pending");
  });
});

describe("a recovery that is itself interrupted", () => {
  test("leaves everything to the next one when it could not end the old processes", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const first = await successorOf(rig);
    const reap = (): Promise<never> => Promise.reject(new Error("power cut"));
    await expect(recover(first, { reap })).rejects.toThrow("power cut");
    expect(worker.run.status).toBe("running");
    const { report } = await recoverNow(rig);
    expect(report.interrupted).toBe(1);
  });

  test("does nothing twice", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await recoverNow(rig);
    const events = rig.events(worker.runId);
    const { report } = await recoverNow(rig);
    expect(report).toEqual({ reaped: 0, interrupted: 0, settled: 0, told: 0 });
    expect(rig.events(worker.runId)).toEqual(events);
  });
});
