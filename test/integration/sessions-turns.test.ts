import { describe, expect, test } from "vitest";
import { openTurn } from "../../src/host/operations/turns.ts";
import { pause, resume } from "../support/scenes.ts";
import {
  AGENT,
  askingModel,
  DECISION,
  interaction,
  REPLY,
  SESSION,
  shown,
  told,
  validating,
} from "../support/session-scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { end, newest, offer, turn, work } from "../support/turn-acts.ts";

const LIMIT = { kind: "rate_limit", message: "429", retryAfterMs: 45_000 } as const;
const BROKEN = { kind: "other", message: "the model fell over" } as const;

function session(rig: TestRig) {
  return rig.reader.sessions.get(SESSION);
}

describe("a turn that completed without a result", () => {
  test("is followed by two reminders, and then the attempt fails by name", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    await turn(rig, interactionId, "completed");
    await turn(rig, interactionId, "completed");
    expect(interaction(rig, interactionId)).toMatchObject({ status: "pending", reminders: 2 });
    await turn(rig, interactionId, "completed");
    expect(interaction(rig, interactionId).status).toBe("cancelled");
    expect(rig.reader.attempts.newest(runId)).toMatchObject({
      status: "failed",
      error: { name: "missing_submission" },
    });
    expect(rig.run(runId)).toMatchObject({ status: "queued", routing: true });
    expect(told(rig, runId)).toEqual([
      "step first delivered",
      "step reminder delivered",
      "step reminder delivered",
    ]);
    expect(rig.events(runId).filter((kind) => kind === "remind")).toHaveLength(2);
  });

  test("leaves a checkpoint to people", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "ask");
    const interactionId = await worker.ask();
    await turn(rig, interactionId, "completed");
    expect(told(rig, worker.runId)).toEqual(["step first delivered"]);
    expect(interaction(rig, interactionId)).toMatchObject({ status: "pending", reminders: 0 });
  });

  test("ends what counts in a row, and the provider's limit", async () => {
    const rig = new TestRig();
    const { interactionId } = await askingModel(rig);
    await turn(rig, interactionId, "lost");
    await turn(rig, interactionId, "failed", { error: BROKEN });
    await rig.pass(2_000);
    await turn(rig, interactionId, "failed", { error: LIMIT });
    expect(interaction(rig, interactionId)).toMatchObject({ lostTurns: 1, modelErrors: 1 });
    await rig.pass(45_000);
    await turn(rig, interactionId, "completed");
    expect(interaction(rig, interactionId)).toMatchObject({ lostTurns: 0, modelErrors: 0 });
    expect(session(rig)?.heldUntil).toBeUndefined();
    expect(session(rig)?.heldCount).toBe(0);
  });
});

describe("a reply", () => {
  async function replying(change: object) {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig, REPLY);
    await turn(rig, interactionId, "completed", change);
    return { rig, runId, interactionId };
  }

  test("is the answer when it is whole", async () => {
    const { rig, runId, interactionId } = await replying({
      replyText: "Done: „x“\n",
      replyWhole: true,
    });
    const { answer, status, answeredBy } = interaction(rig, interactionId);
    expect([status, answeredBy]).toEqual(["accepted", `session ${SESSION}`]);
    expect(answer === undefined ? "" : rig.reader.values.read(answer)).toBe('"Done: „x“\\n"');
    expect(rig.run(runId)).toMatchObject({ status: "queued", activation: "answered" });
  });

  test.each([
    ["is empty", { replyText: " \n", replyWhole: true }, /without a reply/],
    ["was cut off", { replyText: "Do", replyWhole: false }, /cut off/],
  ])("that %s is a turn without a result", async (_name, change, why) => {
    const { rig, runId, interactionId } = await replying(change);
    expect(interaction(rig, interactionId)).toMatchObject({ status: "pending", reminders: 1 });
    expect(interaction(rig, interactionId).lastError).toMatch(why);
    expect(told(rig, runId)).toEqual(["step first delivered", "step reminder pending"]);
  });

  test("is nothing to an agent step, which wants a submission", async () => {
    const rig = new TestRig();
    const { interactionId } = await askingModel(rig, AGENT);
    await turn(rig, interactionId, "completed", { replyText: "Done", replyWhole: true });
    expect(interaction(rig, interactionId)).toMatchObject({ status: "pending", reminders: 1 });
  });
});

describe("a turn that the user stopped", () => {
  test("pauses the run in the same transaction, and a resume shows the step again", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    await turn(rig, interactionId, "aborted");
    expect(rig.run(runId).status).toBe("paused");
    await resume(rig, runId);
    expect(newest(rig, interactionId)).toMatchObject({ reason: "resumed", status: "pending" });
    expect(interaction(rig, interactionId).reminders).toBe(0);
  });

  test("pauses it while its result is validated too", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    const message = newest(rig, interactionId);
    await end(rig, message, "aborted");
    expect(rig.run(worker.runId).status).toBe("paused");
    expect(interaction(rig, interactionId).status).toBe("pending");
  });

  test("pauses nothing after the answer, nor when the host had asked for the stop", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    const message = await work(rig, interactionId);
    await pause(rig, runId);
    expect(rig.reader.turns.get(message.messageId)?.abortReason).toMatch(/paused/);
    await resume(rig, runId);
    await end(rig, message, "aborted");
    expect(rig.reader.turns.get(message.messageId)?.status).toBe("stopped");
    expect(rig.run(runId).status).toBe("waiting");
  });
});

describe("a provider's limit", () => {
  test("holds all steps of the session back for as long as it says", async () => {
    const rig = new TestRig();
    const one = await askingModel(rig);
    const two = await askingModel(rig);
    await turn(rig, one.interactionId, "failed", { error: LIMIT });
    const until = rig.at.clock.now() + 45_000;
    expect(session(rig)).toMatchObject({ heldUntil: until, heldFor: "rate_limit", heldCount: 1 });
    expect(newest(rig, one.interactionId)).toMatchObject({
      reason: "rate_limit",
      availableAt: until,
    });
    expect(await offer(rig)).toBe(false);
    await rig.pass(45_000);
    expect(await offer(rig)).toBe(true);
    expect(newest(rig, one.interactionId).status).toBe("offered");
    expect(newest(rig, two.interactionId).status).toBe("pending");
    expect(rig.events(one.runId)).toContain("hold");
    expect(interaction(rig, one.interactionId)).toMatchObject({ reminders: 0, modelErrors: 0 });
  });

  test("is waited for longer and longer when it names no time, but never past the deadline", async () => {
    const rig = new TestRig();
    const { interactionId } = await askingModel(rig, { timeoutMs: 80_000 });
    const deadline = rig.at.clock.now() + 80_000;
    const error = { kind: "usage_limit", message: "quota" } as const;
    await turn(rig, interactionId, "failed", { error });
    expect(newest(rig, interactionId).availableAt).toBe(rig.at.clock.now() + 30_000);
    await rig.pass(30_000);
    await turn(rig, interactionId, "failed", { error });
    expect(newest(rig, interactionId).availableAt).toBe(deadline);
    expect(session(rig)).toMatchObject({ heldCount: 2, heldFor: "usage_limit" });
    await rig.pass(50_000);
    expect(interaction(rig, interactionId).status).toBe("expired");
  });
});

describe("a model that fails", () => {
  test("is tried again later and later, and then the attempt fails by name", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    for (const delayMs of [2_000, 10_000, 30_000]) {
      await turn(rig, interactionId, "failed", { error: BROKEN });
      expect(newest(rig, interactionId)).toMatchObject({
        reason: "model_error",
        availableAt: rig.at.clock.now() + delayMs,
      });
      expect(await offer(rig)).toBe(false);
      await rig.pass(delayMs);
    }
    await turn(rig, interactionId, "failed", { error: BROKEN });
    expect(rig.reader.attempts.newest(runId)?.error).toMatchObject({
      name: "model_error",
      message: expect.stringContaining("the model fell over") as string,
    });
    expect(rig.run(runId).routing).toBe(true);
  });
});

describe("a turn whose end nobody saw", () => {
  test("is made up for twice; a third in a row blocks the run", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    await turn(rig, interactionId, "lost");
    await turn(rig, interactionId, "lost");
    expect(rig.run(runId).status).toBe("waiting");
    await turn(rig, interactionId, "lost");
    expect(rig.run(runId)).toMatchObject({ status: "blocked", blockReason: "no_progress" });
    expect(told(rig, runId).filter((one) => / (?:pending|offered)$/.test(one))).toEqual([]);
    await resume(rig, runId);
    expect(newest(rig, interactionId)).toMatchObject({ reason: "resumed", status: "pending" });
  });

  test("does not count when its message joined the user's own run", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    for (let count = 0; count < 5; count += 1) {
      await offer(rig);
      await end(rig, newest(rig, interactionId), "lost", { entryId: `e${count}` });
    }
    expect(rig.run(runId).status).toBe("waiting");
    expect(interaction(rig, interactionId).lostTurns).toBe(0);
    expect(newest(rig, interactionId)).toMatchObject({ reason: "resumed", status: "pending" });
  });
});

describe("facts that come twice, late or for nobody", () => {
  test("a repeat of a beginning or an end changes nothing", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    const message = await work(rig, interactionId);
    await rig.sound(openTurn(rig.host, message));
    await end(rig, message, "completed");
    const { revision } = rig.run(runId);
    await end(rig, message, "completed");
    await end(rig, message, "aborted");
    await rig.sound(openTurn(rig.host, message));
    expect(rig.run(runId).revision).toBe(revision);
    expect(rig.reader.turns.get(message.messageId)?.status).toBe("completed");
    expect(interaction(rig, interactionId).reminders).toBe(1);
  });

  test("an end without a beginning is both", async () => {
    const rig = new TestRig();
    const { interactionId } = await askingModel(rig);
    await offer(rig);
    const message = newest(rig, interactionId);
    await end(rig, message, "completed", { entryId: "entry" });
    expect(rig.reader.turns.get(message.messageId)?.status).toBe("completed");
    expect(rig.reader.messages.get(message.messageId)?.status).toBe("delivered");
    expect(newest(rig, interactionId).reason).toBe("reminder");
  });

  test("a message of another session, an unknown one and a card have no turn", async () => {
    const rig = new TestRig();
    const { interactionId } = await askingModel(rig);
    const { messageId } = newest(rig, interactionId);
    await rig.sound(openTurn(rig.host, { sessionId: "fork", messageId }));
    await rig.sound(openTurn(rig.host, { sessionId: SESSION, messageId: "msg_none" }));
    const worker = await shown(rig, "choose");
    const decision = newest(rig, await worker.ask(DECISION));
    await rig.sound(openTurn(rig.host, decision));
    await end(rig, decision, "completed");
    expect(rig.reader.turns.allOpenOfSession(SESSION)).toEqual([]);
    expect(rig.reader.turns.get(decision.messageId)).toBeUndefined();
  });

  test("a turn that begins after its message was withdrawn is asked to stop", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    await offer(rig);
    const message = newest(rig, interactionId);
    await pause(rig, runId);
    await rig.sound(openTurn(rig.host, message));
    expect(rig.reader.turns.get(message.messageId)?.abortReason).toBe("this message was withdrawn");
  });

  test("an end after the deadline is too late, also before anybody has looked", async () => {
    const rig = new TestRig();
    const { interactionId } = await askingModel(rig, { ...REPLY, timeoutMs: 60_000 });
    const message = await work(rig, interactionId);
    rig.at.clock.advance(60_000);
    await end(rig, message, "completed", { replyText: "Late", replyWhole: true });
    expect(interaction(rig, interactionId).status).toBe("expired");
  });

  test("after a resume the step is shown when the turn before has ended, which means nothing else", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    const message = await work(rig, interactionId);
    await pause(rig, runId);
    await resume(rig, runId);
    expect(await offer(rig)).toBe(false);
    await end(rig, message, "completed");
    expect(interaction(rig, interactionId).reminders).toBe(0);
    expect(newest(rig, interactionId)).toMatchObject({ reason: "resumed", status: "pending" });
    expect(await offer(rig)).toBe(true);
  });
});
