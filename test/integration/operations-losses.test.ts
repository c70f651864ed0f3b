import { describe, expect, test } from "vitest";
import { control } from "../../src/host/store/doors.ts";
import { interruptRun } from "../../src/host/operations/claims.ts";
import { cancel, pause, resume } from "../support/scenes.ts";
import { lossOf, reasonOf } from "../support/refusal.ts";
import { TestRig } from "../support/test-host.ts";
import { FAILED, FAILURE, next, OK, retry } from "../support/test-worker.ts";
import { verdict } from "../../src/host/operations/attempts.ts";

describe("a worker that dies without evidence", () => {
  test("is followed by another at once, then after a second, then by nobody", async () => {
    const rig = new TestRig();
    const first = await rig.running("hub");
    const { runId } = first;
    const now = rig.at.clock.now();
    expect(await rig.lose(first)).toBe("interrupted");
    expect(first.run).toMatchObject({ status: "queued", availableAt: now, noProgress: 1 });

    expect(await rig.lose(await rig.relaunch(runId))).toBe("interrupted");
    expect(first.run).toMatchObject({ availableAt: now + 1_000, noProgress: 2 });

    const third = await rig.relaunch(runId);
    expect(await rig.lose(third, { outputTail: "Segmentation fault" })).toBe("blocked");
    expect(first.run).toMatchObject({ status: "blocked", blockReason: "no_progress" });
    expect(first.run.detail).toBe(
      "3 workers died in a row without progress: killed by SIGKILL\nSegmentation fault",
    );
    const statuses = rig.reader.attempts.lastOfRun(runId, 10).map((attempt) => attempt.status);
    expect(statuses).toEqual(["interrupted", "interrupted", "interrupted"]);
  });

  test("leaves only the end of a long output, whole characters", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    for (let death = 1; death <= 3; death += 1) {
      await rig.lose(await rig.relaunch(runId), { outputTail: `start${"é".repeat(4_000)}end` });
    }
    const detail = rig.run(runId).detail ?? "";
    expect(detail).toMatch(/\né+end$/);
    expect(Buffer.byteLength(detail)).toBeLessThan(4_096 + 100);
  });

  test("says nothing of an output that there was not", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    for (let death = 1; death <= 3; death += 1) await rig.lose(await rig.relaunch(runId));
    expect(rig.run(runId).detail).toBe(
      "3 workers died in a row without progress: killed by SIGKILL",
    );
  });

  test("before it has attached counts too, and keeps what the run was to begin with", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    const worker = await rig.launch(runId);
    expect(await rig.lose(worker)).toBe("interrupted");
    expect(rig.run(runId)).toMatchObject({ activation: "start", noProgress: 1 });
    expect((await rig.relaunch(runId)).begin).toMatchObject({ kind: "start", attempt: 1 });
  });

  test("while it only routes has the routing done again", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await worker.judge("failed");
    const router = await rig.relaunch(worker.runId);
    await rig.lose(router);
    const again = await rig.relaunch(worker.runId);
    expect(again.begin).toMatchObject({ kind: "verdict", attemptId: worker.attemptId });
  });

  test("is reported once: the second report, and one of an older generation, do nothing", async () => {
    const rig = new TestRig();
    const first = await rig.running("hub");
    await rig.lose(first);
    const before = first.run;
    expect(await rig.lose(first)).toBe("none");
    await rig.relaunch(first.runId);
    expect(await rig.lose(first)).toBe("none");
    expect(first.run.noProgress).toBe(before.noProgress);
  });

  test("at the moment of a cancel changes nothing after it", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const [, outcome] = await Promise.all([cancel(rig, worker.runId), rig.lose(worker)]);
    expect(outcome).toBe("none");
    expect(worker.run.status).toBe("cancelled");
  });

  test("at the moment of a take-over changes nothing after it", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    rig.at.leaseAdvance(30_000);
    const lost = { ...worker.proof, reason: "gone", counted: true };
    const outcomes = await Promise.all([
      interruptRun(rig.host, lost),
      interruptRun(rig.host, lost),
    ]);
    expect(outcomes).toEqual(["interrupted", "none"]);
    expect(worker.run.noProgress).toBe(1);
  });

  test("is no reason to hide a fault of the store", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const lost = { ...worker.proof, reason: "gone", counted: true };
    await expect(interruptRun(rig.failing("disk"), lost)).rejects.toThrow("disk");
  });
});

describe("the count of losses", () => {
  test.each<[string, (rig: TestRig, runId: string) => Promise<unknown>]>([
    ["an advance", async (rig, runId) => (await rig.relaunch(runId)).advance(OK, next("flaky"))],
    [
      "a wait",
      async (rig, runId) => {
        const worker = await rig.relaunch(runId);
        await worker.advance(OK, next("nap"));
        await worker.wait(1_000);
      },
    ],
    [
      "a resume",
      async (rig, runId) => {
        await pause(rig, runId);
        await resume(rig, runId);
      },
    ],
  ])("returns to zero by %s", async (_name, progress) => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await rig.lose(worker);
    expect(worker.run.noProgress).toBe(1);
    await progress(rig, worker.runId);
    expect(worker.run.noProgress).toBe(0);
  });

  test("does not grow when the host is the reason", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    for (let loss = 1; loss <= 5; loss += 1) {
      const worker = await rig.relaunch(runId);
      expect(await rig.lose(worker, { counted: false })).toBe("interrupted");
    }
    expect(rig.run(runId)).toMatchObject({ status: "queued", noProgress: 0 });
    expect(rig.run(runId).availableAt).toBe(rig.at.clock.now());
  });

  test("is no count of tries: an interrupted attempt uses none up", async () => {
    const rig = new TestRig();
    const worker = await rig.running("flaky");
    await worker.advance(FAILED, retry("flaky"));
    await rig.lose(worker);
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin).toMatchObject({ attempt: 3, countedAttempts: 1 });
    await successor.advance(FAILED, retry("flaky"));
    expect(await reasonOf(successor.advance(FAILED, retry("flaky")))).toBe("ILLEGAL_TRANSITION");
  });
});

describe("the worker of an earlier host", () => {
  test("is taken over by the next one, with a new generation", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const host = rig.at.nextEpoch();
    const lost = { ...worker.proof, reason: "the host was restarted", counted: false };
    expect(await rig.sound(interruptRun(host, lost))).toBe("interrupted");
    expect(worker.run).toMatchObject({ status: "queued", generation: 2 });
    expect(rig.reader.claims.open(worker.runId)).toBeUndefined();
  });

  test("is told apart from one whose token is not the claim's", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    rig.at.leaseAdvance(30_000);
    const proof = { ...worker.proof, tokenHash: "0".repeat(64) };
    const { attemptId } = worker;
    const late = verdict(rig.host, { proof, attemptId, outcome: "failed", error: FAILURE });
    expect(await lossOf(late)).toBe("token_changed");
  });

  test("has no say once somebody else has taken a generation", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    rig.at.leaseAdvance(30_000);
    const { attemptId, proof } = worker;
    const taken = control(rig.host, "test", worker.runId, () => undefined);
    const late = verdict(rig.host, { proof, attemptId, outcome: "failed", error: FAILURE });
    expect(await lossOf(late)).toBe("generation_changed");
    await taken;
  });
});

describe("a run that must not go on", () => {
  test("is blocked with the reason, the words and the files", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    const worker = await rig.launch(runId);
    const changedFiles = ["/project/hub.workflow.ts"];
    await worker.block({ reason: "source_changed", detail: "1 file differs", changedFiles });
    expect(rig.run(runId)).toMatchObject({
      status: "blocked",
      blockReason: "source_changed",
      detail: "1 file differs",
      changedFiles,
      activation: "start",
    });
    expect(rig.reader.claims.open(runId)).toBeUndefined();
    expect(await rig.lose(worker)).toBe("none");
  });

  test("takes an idempotent effect back before it is blocked", async () => {
    const rig = new TestRig();
    const worker = await rig.running("mail");
    await worker.act();
    await worker.block({ reason: "source_changed", detail: "changed" });
    expect(rig.reader.effects.ofRun(worker.runId)).toMatchObject([
      { status: "pending", unknownBefore: true },
    ]);
    expect(worker.run.blockReason).toBe("source_changed");
  });
});
