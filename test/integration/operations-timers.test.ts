import { describe, expect, test } from "vitest";
import { nextDue, settleDue } from "../../src/host/operations/timers.ts";
import { attemptRecord, putRun, timerRecord } from "../support/records.ts";
import { reasonOf } from "../support/refusal.ts";
import { cancel, pause, resume } from "../support/scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { FAILED, next, OK, TIMED_OUT } from "../support/test-worker.ts";

describe("a wait", () => {
  test("ends with the two times as its output, and only routes", async () => {
    const rig = new TestRig();
    const worker = await rig.running("nap");
    await worker.wait(60_000);
    expect(worker.run).toMatchObject({ status: "waiting", boundary: 2 });
    const dueAt = new Date(rig.at.clock.now() + 60_000).toISOString();
    expect(await rig.pass(61_000)).toBe(1);
    const firedAt = new Date(rig.at.clock.now()).toISOString();
    const attempt = rig.reader.attempts.newestOk(worker.runId, "nap");
    expect(attempt?.output).toEqual({ json: JSON.stringify({ dueAt, firedAt }) });
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin.kind).toBe("expired");
    await successor.advance(undefined, next("end"));
  });

  test("is what a wait node does, and no other", async () => {
    const worker = await new TestRig().running("hub");
    expect(await reasonOf(worker.wait(60_000))).toBe("REQUEST_INVALID");
  });

  test("of a hundred days is pending until the very day", async () => {
    const rig = new TestRig();
    const worker = await rig.running("nap");
    const days = 100 * 86_400_000;
    await worker.wait(days);
    expect(nextDue(rig.host)).toBe(rig.at.clock.now() + days);
    expect(await rig.pass(days - 1)).toBe(0);
    expect(await rig.pass(1)).toBe(1);
  });
});

describe("a long back-off", () => {
  test.each([
    ["failed", FAILED],
    ["timed_out", TIMED_OUT],
  ])("closes the %s attempt and opens another when it is over", async (status, result) => {
    const rig = new TestRig();
    const worker = await rig.running("flaky");
    const { attemptId } = worker;
    await worker.wait(60_000, result);
    expect(rig.reader.attempts.get(attemptId)?.status).toBe(status);
    expect(rig.reader.timers.open(worker.runId)).toMatchObject({ kind: "retry", attemptId });
    await rig.pass(60_000);
    expect(worker.run).toMatchObject({ status: "queued", routing: false });
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin).toMatchObject({ kind: "continue", attempt: 2, countedAttempts: 1 });
  });

  test("after a verdict needs no result of its own", async () => {
    const rig = new TestRig();
    const worker = await rig.running("flaky");
    await worker.judge("failed");
    const router = await rig.relaunch(worker.runId);
    await router.wait(60_000);
    expect(worker.run).toMatchObject({ status: "waiting", routing: false });
    await rig.pass(60_000);
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin).toMatchObject({ kind: "continue", attempt: 2 });
  });

  test("is refused when no try is left, or the attempt is ok", async () => {
    const rig = new TestRig();
    const hub = await rig.running("hub");
    expect(await reasonOf(hub.wait(60_000, FAILED))).toBe("ILLEGAL_TRANSITION");
    const flaky = await rig.running("flaky");
    expect(await reasonOf(flaky.wait(60_000, OK))).toBe("ILLEGAL_TRANSITION");
  });
});

describe("what is due", () => {
  test("is settled once each and in due order, however late", async () => {
    const rig = new TestRig();
    const delays = [3_000, 1_000, 2_000];
    const runIds: string[] = [];
    for (const delay of delays) {
      const worker = await rig.running("nap");
      await worker.wait(delay);
      runIds.push(worker.runId);
    }
    const asking = await rig.running("ask");
    await asking.ask({ timeoutMs: 1_500 });
    runIds.push(asking.runId);
    rig.at.clock.jump(86_400_000);
    const from = rig.reader.events.lastPosition();
    expect(await rig.sound(settleDue(rig.host, rig.at.clock.now()))).toBe(4);
    const order = rig.reader.events.changedRuns(from, 10).map(({ runId }) => runIds.indexOf(runId));
    expect(order).toEqual([1, 3, 2, 0]);
    expect(await rig.sound(settleDue(rig.host, rig.at.clock.now()))).toBe(0);
  });

  test("is settled in as many pages as there are", async () => {
    const rig = new TestRig();
    await rig.host.store.write("test", (tx) => {
      for (let count = 0; count < 105; count += 1) {
        const run = putRun(tx, { status: "waiting", node: "draft" });
        const attempt = attemptRecord(run.runId, { status: "waiting" });
        tx.put.attempt(attempt);
        tx.put.timer(timerRecord(attempt, { dueAt: rig.at.clock.now() + 1_000 }));
      }
    });
    expect(await rig.pass(1_000)).toBe(105);
  });

  test("does not fire early when the clock is set back, nor twice when set forward", async () => {
    const rig = new TestRig();
    const worker = await rig.running("nap");
    await worker.wait(60_000);
    const { clock } = rig.at;
    clock.setWall(clock.now() - 7_200_000);
    expect(await rig.pass(60_000)).toBe(0);
    clock.setWall(clock.now() + 7_200_000);
    expect(await rig.pass(0)).toBe(1);
    expect(await rig.pass(86_400_000)).toBe(0);
  });

  test("of a paused or cancelled run is nothing", async () => {
    const rig = new TestRig();
    const paused = await rig.running("nap");
    await paused.wait(1_000);
    await pause(rig, paused.runId);
    const cancelled = await rig.running("nap");
    await cancelled.wait(1_000);
    await cancel(rig, cancelled.runId);
    expect(nextDue(rig.host)).toBeUndefined();
    expect(await rig.pass(5_000)).toBe(0);
    await resume(rig, paused.runId);
    expect(paused.run).toMatchObject({ status: "queued", activation: "expired" });
  });

  test("before its time lets a resumed run wait on", async () => {
    const rig = new TestRig();
    const worker = await rig.running("nap");
    await worker.wait(1_000);
    await pause(rig, worker.runId);
    await resume(rig, worker.runId);
    expect(worker.run.status).toBe("waiting");
    expect(await rig.pass(1_000)).toBe(1);
  });

  test("is left to whoever settled it in the same moment", async () => {
    const rig = new TestRig();
    const worker = await rig.running("nap");
    await worker.wait(1_000);
    rig.at.clock.advance(1_000);
    const now = rig.at.clock.now();
    const counts = await Promise.all([settleDue(rig.host, now), settleDue(rig.host, now)]);
    expect(counts.toSorted((left, right) => left - right)).toEqual([0, 1]);
    expect(rig.events(worker.runId).filter((kind) => kind === "settle")).toHaveLength(1);
  });

  test("but only by a clock that is ahead is not settled", async () => {
    const rig = new TestRig();
    const worker = await rig.running("nap");
    await worker.wait(1_000);
    expect(await settleDue(rig.host, rig.at.clock.now() + 5_000)).toBe(0);
    expect(worker.run.status).toBe("waiting");
  });

  test("cannot be settled while the store refuses", async () => {
    const rig = new TestRig();
    const worker = await rig.running("nap");
    await worker.wait(1_000);
    rig.at.clock.advance(1_000);
    const settled = settleDue(rig.failing("disk"), rig.at.clock.now());
    await expect(settled).rejects.toThrow("disk");
  });
});

describe("the next due time", () => {
  test("is the earliest of deadlines, timers and delayed runs", async () => {
    const rig = new TestRig();
    const now = rig.at.clock.now();
    expect(nextDue(rig.host)).toBeUndefined();
    await rig.admit({ notBefore: now + 3_000 });
    expect(nextDue(rig.host)).toBe(now + 3_000);
    await (await rig.running("ask")).ask({ timeoutMs: 2_000 });
    expect(nextDue(rig.host)).toBe(now + 2_000);
    await (await rig.running("nap")).wait(1_000);
    expect(nextDue(rig.host)).toBe(now + 1_000);
  });
});
