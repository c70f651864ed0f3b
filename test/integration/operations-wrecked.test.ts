import { describe, expect, test } from "vitest";
import { diagnose, repair } from "../../src/host/diagnosis.ts";
import { interruptRun, recordWorkerExit } from "../../src/host/operations/claims.ts";
import { recordEffectProcess } from "../../src/host/operations/effects.ts";
import { answerCheckpoint } from "../../src/host/operations/interactions.ts";
import { pauseRun } from "../../src/host/operations/runs.ts";
import { settleDue } from "../../src/host/operations/timers.ts";
import { acting } from "../support/acting.ts";
import { reasonOf } from "../support/refusal.ts";
import { TestRig } from "../support/test-host.ts";
import { FAIL, next, OK, retry, FAILED } from "../support/test-worker.ts";
import type { TestWorker } from "../support/test-worker.ts";
import { vandalise } from "../support/vandal.ts";

// Guards make these states impossible. Should one ever appear all the same, an operation must
// neither invent an outcome nor fall over it.

function answer(rig: TestRig, interactionId: string) {
  const asked = rig.asked("AnswerCheckpoint");
  return answerCheckpoint(rig.host, asked, { interactionId, answerJson: "1" });
}

function lose(rig: TestRig, { proof }: TestWorker) {
  return interruptRun(rig.host, { ...proof, reason: "gone", counted: true });
}

describe("an interaction", () => {
  test("of another kind is not answered like a checkpoint", async () => {
    const rig = new TestRig();
    const worker = await rig.running("ask");
    const interactionId = await worker.ask();
    vandalise(rig.at.path, worker.runId, ["UPDATE interactions SET kind = 'agent'"]);
    expect(await reasonOf(answer(rig, interactionId))).toBe("WRONG_KIND");
  });

  test("whose attempt is gone is neither answered nor settled", async () => {
    const rig = new TestRig();
    const worker = await rig.running("ask");
    const interactionId = await worker.ask({ timeoutMs: 1_000 });
    vandalise(rig.at.path, worker.runId, [
      "UPDATE attempts SET status = 'cancelled', finished_at = 1 WHERE run_id = $run",
    ]);
    expect(await reasonOf(answer(rig, interactionId))).toBe("ILLEGAL_TRANSITION");
    rig.at.clock.advance(1_000);
    expect(await settleDue(rig.host, rig.at.clock.now())).toBe(0);
    expect(worker.run.status).toBe("waiting");
  });

  test("whose event is gone is answered with revision 0", async () => {
    const rig = new TestRig();
    const worker = await rig.running("ask");
    const interactionId = await worker.ask();
    const first = await rig.sound(answer(rig, interactionId));
    vandalise(rig.at.path, worker.runId, ["DELETE FROM events WHERE kind = 'settle'"]);
    expect(await answer(rig, interactionId)).toEqual({
      ...first,
      outcome: "adopted",
      revision: 0,
    });
  });
});

describe("an attempt", () => {
  test("that is open before its worker attached is taken up", async () => {
    const { rig, worker } = await acting("mail");
    await rig.lose(worker);
    await rig.exit(worker.proof.workerId);
    vandalise(rig.at.path, worker.runId, [
      "UPDATE attempts SET status = 'running', finished_at = NULL WHERE run_id = $run",
    ]);
    const [finding] = diagnose(rig.reader);
    expect(finding?.invariant).toBe("idle_executes_nothing");
    await repair(rig.host, rig.asked("Repair"), { dryRun: false });
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin.attempt).toBe(2);
  });

  test("that is missing cannot be routed on", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    const worker = await rig.launch(runId);
    vandalise(rig.at.path, runId, ["UPDATE runs SET routing = 1 WHERE run_id = $run"]);
    expect(await reasonOf(worker.attach())).toBe("ILLEGAL_TRANSITION");
  });
});

describe("an effect", () => {
  test("whose application is missing is lost like any other", async () => {
    const { rig, worker } = await acting("mail");
    vandalise(rig.at.path, worker.runId, ["DELETE FROM effect_attempts"]);
    expect(await rig.lose(worker)).toBe("interrupted");
    expect(rig.reader.effects.ofRun(worker.runId)).toMatchObject([{ status: "pending" }]);
  });

  test("that was applied by nobody keeps its receipt", async () => {
    const { rig, worker, effectId } = await acting("mail");
    await worker.advance(
      { ...FAILED, effect: { effectId, kind: "applied", receiptJson: '"sent"' } },
      retry("mail"),
    );
    vandalise(rig.at.path, worker.runId, ["DELETE FROM effect_attempts"]);
    expect(await worker.act()).toEqual({ effectId, kind: "stored", receiptJson: '"sent"' });
  });

  test("whose application is missing has no process to remember", async () => {
    const { rig, worker, effectId } = await acting("mail");
    vandalise(rig.at.path, worker.runId, ["DELETE FROM effect_attempts"]);
    const process = { effectId, pid: 1, startTime: "1", bootId: "boot" };
    await rig.sound(recordEffectProcess(rig.host, worker.proof, process));
    expect(rig.reader.effects.liveProcesses(worker.runId)).toEqual([]);
  });

  test("that needs a person blocks its run, also when its attempt is gone", async () => {
    const { rig, worker } = await acting("deploy");
    vandalise(rig.at.path, worker.runId, [
      "UPDATE attempts SET status = 'cancelled', finished_at = 1 WHERE run_id = $run",
    ]);
    expect(await lose(rig, worker)).toBe("blocked");
    expect(worker.run).toMatchObject({ status: "blocked", blockReason: "effect_ambiguous" });
  });
});

describe("a worker", () => {
  test("whose end is told before its loss keeps its command until that", async () => {
    const { rig, worker, effectId } = await acting("deploy");
    const process = { effectId, pid: 9, startTime: "1", bootId: "boot" };
    await rig.sound(recordEffectProcess(rig.host, worker.proof, process));
    const end = { workerId: worker.proof.workerId, code: 1, signal: undefined, reason: "exited" };
    await rig.sound(recordWorkerExit(rig.host, end));
    expect(rig.reader.effects.liveProcesses(worker.runId)).toHaveLength(1);
    expect(await rig.lose(worker)).toBe("blocked");
  });
});

describe("a deadline", () => {
  test("of an attempt is stored with it, by whichever way it is opened", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    const worker = await rig.launch(runId);
    await worker.attach({ timeoutMs: 1_000, newSources: [] });
    expect(rig.reader.attempts.open(runId)?.timeoutMs).toBe(1_000);
    await worker.advance(OK, { ...next("flaky"), timeoutMs: 2_000 });
    expect(rig.reader.attempts.open(runId)?.timeoutMs).toBe(2_000);
    await worker.advance(OK, next("end"));
    expect(rig.reader.attempts.open(runId)?.timeoutMs).toBeUndefined();
    await worker.advance(FAILED, FAIL);
  });
});

describe("a command", () => {
  test("that names no run is refused", async () => {
    const rig = new TestRig();
    // Nothing that compiles says so; a request read at run time could.
    const request = { runId: undefined as unknown as string, now: false };
    const paused = pauseRun(rig.host, rig.asked("PauseRun"), request);
    expect(await reasonOf(paused)).toBe("RUN_NOT_FOUND");
  });
});
