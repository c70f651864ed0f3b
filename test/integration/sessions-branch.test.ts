import { describe, expect, test } from "vitest";
import { adoptRun } from "../../src/host/operations/adopt.ts";
import { attachSession, detachAll, detachSession } from "../../src/host/operations/sessions.ts";
import { cancel, pause, resume } from "../support/scenes.ts";
import {
  askingModel,
  DECISION,
  interaction,
  openSession,
  SESSION,
  shown,
  submit,
  told,
} from "../support/session-scenes.ts";
import { refusal } from "../support/refusal.ts";
import { TestRig } from "../support/test-host.ts";
import { COMPLETE, next } from "../support/test-worker.ts";
import { end, newest, offer, report, work } from "../support/turn-acts.ts";

const OTHER = "5e551011-0000-4000-8000-000000000002";

function status(rig: TestRig, messageId: string): string | undefined {
  return rig.reader.messages.get(messageId)?.status;
}

async function offered(rig: TestRig) {
  const asked = await askingModel(rig);
  await offer(rig);
  return { ...asked, ...newest(rig, asked.interactionId) };
}

describe("what stands on the branch", () => {
  test("counts as delivered only when it was handed over, is there, and is on disk", async () => {
    const rig = new TestRig();
    const { messageId } = await offered(rig);
    await report(rig, { messages: [{ messageId, entryId: "e" }], written: false });
    await report(rig, { messages: [{ messageId }] });
    await report(rig, { sessionId: OTHER, messages: [{ messageId, entryId: "e" }] });
    expect(status(rig, messageId)).toBe("offered");
    await report(rig, { messages: [{ messageId, entryId: "e" }], idle: false });
    expect(rig.reader.messages.get(messageId)).toMatchObject({
      status: "delivered",
      entryId: "e",
      deliveredAt: rig.at.clock.now(),
    });
  });

  test("that is known already writes nothing", async () => {
    const rig = new TestRig();
    const { messageId } = await offered(rig);
    await report(rig, { messages: [{ messageId, entryId: "e" }], idle: false });
    const writes: unknown[] = [];
    rig.at.store.subscribe((change) => writes.push(change));
    await report(rig, { messages: [{ messageId, entryId: "e" }], idle: false });
    await report(rig, { messages: [{ messageId: "msg_unknown" }] });
    expect(writes).toEqual([]);
  });

  test("of a message that was withdrawn only the place is kept", async () => {
    const rig = new TestRig();
    const { messageId, runId } = await offered(rig);
    await cancel(rig, runId);
    await report(rig, { messages: [{ messageId, entryId: "e" }] });
    expect(rig.reader.messages.get(messageId)).toMatchObject({ status: "cancelled", entryId: "e" });
  });
});

describe("what was there and is gone", () => {
  test("is asked again by another message, uncounted, and the old one never counts again", async () => {
    const rig = new TestRig();
    const { messageId, interactionId, runId } = await offered(rig);
    await report(rig, { messages: [{ messageId, entryId: "e" }], idle: false });
    await report(rig, { messages: [{ messageId }] });
    expect(told(rig, runId)).toEqual(["step first superseded", "step resumed pending"]);
    expect(interaction(rig, interactionId)).toMatchObject({ reminders: 0, lostTurns: 0 });
    await report(rig, { messages: [{ messageId }] });
    await report(rig, { messages: [{ messageId, entryId: "e2" }] });
    expect(told(rig, runId)).toEqual(["step first superseded", "step resumed pending"]);
  });

  test("is a person's decision too", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "choose");
    const { messageId } = newest(rig, await worker.ask(DECISION));
    await offer(rig);
    await report(rig, { messages: [{ messageId, entryId: "e" }] });
    await report(rig, { messages: [{ messageId }] });
    expect(told(rig, worker.runId)).toEqual([
      "human_decision first superseded",
      "human_decision resumed pending",
    ]);
  });

  test("stays gone when its request is closed, or while its run is paused", async () => {
    const rig = new TestRig();
    const { messageId, runId, interactionId } = await offered(rig);
    await report(rig, { messages: [{ messageId, entryId: "e" }], idle: false });
    await pause(rig, runId);
    await report(rig, { messages: [{ messageId }] });
    expect(told(rig, runId)).toHaveLength(1);
    await resume(rig, runId);
    expect(newest(rig, interactionId).reason).toBe("resumed");
    await cancel(rig, runId);
    await report(rig, { messages: [{ messageId }] });
    expect(told(rig, runId)).toEqual([
      "step first superseded",
      "step resumed cancelled",
      "result first pending",
    ]);
  });

  test("waits for the verdict while a result is validated", async () => {
    const rig = new TestRig();
    const { messageId, interactionId, runId } = await offered(rig);
    await report(rig, { messages: [{ messageId, entryId: "e" }], idle: false });
    await submit(rig, interactionId);
    await report(rig, { messages: [{ messageId }] });
    expect(told(rig, runId)).toEqual(["step first delivered"]);
  });

  test("how a run ended is final once it was there", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "hub");
    await worker.advance({ outcome: "ok", outputJson: "1" }, next("end"));
    await worker.advance({ outcome: "ok", outputJson: "1" }, COMPLETE);
    await offer(rig);
    const messageId = rig.reader.messages.resultOfRun(worker.runId)?.messageId ?? "";
    await report(rig, { messages: [{ messageId, entryId: "e" }] });
    await report(rig, { messages: [{ messageId }] });
    expect(told(rig, worker.runId)).toEqual(["result first delivered"]);
  });
});

describe("a message that stands in an idle session without a turn", () => {
  test("is asked again, counted: whoever saw its turn is gone with what it knew", async () => {
    const rig = new TestRig();
    const { messageId, interactionId, runId } = await offered(rig);
    // Pi died with the beginning of the turn untold, and is open again.
    await report(rig, { messages: [{ messageId, entryId: "e" }] });
    expect(told(rig, runId)).toEqual(["step first superseded", "step resumed pending"]);
    expect(rig.reader.turns.get(messageId)?.status).toBe("lost");
    expect(interaction(rig, interactionId)).toMatchObject({ reminders: 0, lostTurns: 1 });
  });

  test("is left alone while the turn begins, runs or is known", async () => {
    const rig = new TestRig();
    const { messageId, runId } = await offered(rig);
    const messages = [{ messageId, entryId: "e" }];
    await report(rig, { messages, idle: false });
    await report(rig, { messages, written: false });
    await report(rig, { messages, turn: { messageId, running: true } });
    await report(rig, { messages, idle: false });
    expect(told(rig, runId)).toEqual(["step first delivered"]);
  });

  test("is left alone when people look at it, or when nothing is asked of it", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "choose");
    const { messageId } = newest(rig, await worker.ask(DECISION));
    await offer(rig);
    await report(rig, { messages: [{ messageId, entryId: "e" }] });
    expect(told(rig, worker.runId)).toEqual(["human_decision first delivered"]);
    const paused = await offered(rig);
    await pause(rig, paused.runId);
    await report(rig, { messages: [{ messageId: paused.messageId, entryId: "e2" }] });
    expect(told(rig, paused.runId)).toEqual(["step first cancelled"]);
  });
});

describe("a turn that nobody told the end of", () => {
  test("is lost only when the session is idle and knows of no such turn", async () => {
    const rig = new TestRig();
    const { interactionId } = await askingModel(rig);
    const { messageId } = await work(rig, interactionId);
    const open = () => rig.reader.turns.get(messageId)?.status;
    await report(rig, { idle: false });
    await report(rig, { turn: { messageId, running: true } });
    await report(rig, { turn: { messageId, running: false } });
    expect(open()).toBe("open");
    await report(rig, {});
    expect(open()).toBe("lost");
    expect(interaction(rig, interactionId).lostTurns).toBe(1);
    expect(newest(rig, interactionId)).toMatchObject({ reason: "resumed", status: "pending" });
  });

  test("with its message gone too is asked about once", async () => {
    const rig = new TestRig();
    const { interactionId, runId } = await askingModel(rig);
    const { messageId } = await work(rig, interactionId);
    await report(rig, { messages: [{ messageId }] });
    expect(told(rig, runId)).toEqual(["step first superseded", "step resumed pending"]);
  });

  test("has begun when the session says that it runs", async () => {
    const rig = new TestRig();
    const { messageId } = await offered(rig);
    await report(rig, { idle: false, turn: { messageId, running: true } });
    expect(rig.reader.turns.get(messageId)?.status).toBe("open");
  });
});

describe("a run that moves to another session", () => {
  async function moved(rig: TestRig, runId: string, sessionId = OTHER) {
    await openSession(rig, OTHER);
    return rig.sound(adoptRun(rig.host, rig.asked("AdoptRun"), { runId, sessionId }));
  }

  test("is asked there again; the turn in the old one is to stop and means nothing", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    const old = await work(rig, interactionId);
    await moved(rig, runId);
    expect(rig.run(runId).originSession).toBe(OTHER);
    expect(rig.events(runId)).toContain("adopt");
    expect(status(rig, old.messageId)).toBe("superseded");
    expect(newest(rig, interactionId)).toMatchObject({ sessionId: OTHER, reason: "resumed" });
    expect(rig.reader.turns.get(old.messageId)?.abortReason).toMatch(/another session/);
    await end(rig, old, "completed");
    expect(interaction(rig, interactionId).reminders).toBe(0);
    expect(await offer(rig, OTHER)).toBe(true);
  });

  test("takes along what was on its way", async () => {
    const rig = new TestRig();
    const { runId, messageId, interactionId } = await offered(rig);
    await moved(rig, runId);
    expect(status(rig, messageId)).toBe("cancelled");
    expect(newest(rig, interactionId).sessionId).toBe(OTHER);
    const { revision } = rig.run(runId);
    await moved(rig, runId);
    expect(rig.run(runId).revision).toBe(revision);
  });

  test("while its result is validated is asked there after a rejection, whatever became of the old turn", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    const old = await work(rig, interactionId);
    await submit(rig, interactionId);
    await moved(rig, runId);
    expect(newest(rig, interactionId).messageId).toBe(old.messageId);
    await (await rig.relaunch(runId)).refuse();
    expect(newest(rig, interactionId)).toMatchObject({ sessionId: OTHER, reason: "reminder" });
    await end(rig, old, "stopped");
    expect(told(rig, runId)).toHaveLength(2);
  });

  test("must not have ended, nor be one that the host itself looks after", async () => {
    const rig = new TestRig();
    const { runId } = await askingModel(rig);
    await cancel(rig, runId);
    expect(await refusal(moved(rig, runId))).toMatchObject({ reason: "ILLEGAL_TRANSITION" });
    const headless = await rig.running("think");
    expect(await refusal(moved(rig, headless.runId))).toMatchObject({
      reason: "ILLEGAL_TRANSITION",
    });
  });
});

describe("a session", () => {
  const FACTS = { sessionId: SESSION, cwd: "/project", sessionFile: "" };

  test("gets a new coordinator epoch with each change of its holder", async () => {
    const rig = new TestRig();
    expect(await attachSession(rig.host, FACTS)).toBe(1);
    expect(await attachSession(rig.host, { ...FACTS, cwd: "/elsewhere" })).toBe(2);
    await detachSession(rig.host, SESSION);
    await detachSession(rig.host, SESSION);
    expect(rig.reader.sessions.get(SESSION)).toMatchObject({
      status: "detached",
      coordinatorEpoch: 2,
      cwd: "/elsewhere",
    });
    expect(await attachSession(rig.host, FACTS)).toBe(3);
  });

  test("is held by nobody after the host has started", async () => {
    const rig = new TestRig();
    await attachSession(rig.host, FACTS);
    await attachSession(rig.host, { ...FACTS, sessionId: OTHER });
    expect(await detachAll(rig.host)).toBe(2);
    expect(await detachAll(rig.host)).toBe(0);
    expect(rig.reader.sessions.attached()).toEqual([]);
  });
});
