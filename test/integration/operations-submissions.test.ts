import { describe, expect, test } from "vitest";
import { expectRefusal, reasonOf } from "../support/refusal.ts";
import { cancel, pause, resume } from "../support/scenes.ts";
import {
  AGENT,
  askingModel,
  DECISION,
  deliver,
  endTurn,
  interaction,
  messages,
  newestSubmission,
  REPLY,
  SESSION,
  shown,
  submit,
  textOf,
  told,
  validating,
} from "../support/session-scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { COMPLETE, FAIL, FAILED, next, OK } from "../support/test-worker.ts";

const NODES = { checkpoint: "ask", reply: "think", human_decision: "choose" };
const ACCEPTED = { outcome: "ok", outputJson: '{"title":"ONE"}' } as const;

describe("a submitted result", () => {
  test("is stored and queued for its validation, and its request says so", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    const { extra, revision } = await submit(rig, interactionId, { a: 1 }, { sessionId: SESSION });
    expect(rig.run(runId)).toMatchObject({ status: "queued", activation: "validate", revision });
    expect(interaction(rig, interactionId).status).toBe("validating");
    expect(newestSubmission(rig, interactionId)).toMatchObject({
      submissionId: extra?.submissionId,
      status: "validating",
      sessionId: SESSION,
      client: "test",
    });
    expect(rig.events(runId).at(-1)).toBe("validate");
    expect(rig.reader.runs.queuedValidations(5).map((run) => run.runId)).toEqual([runId]);
  });

  test("keeps the attempt that waits, which its worker is told", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    const { attemptId } = interaction(rig, interactionId);
    expect(worker.begin).toMatchObject({ kind: "validate", attemptId });
    expect(rig.reader.attempts.get(attemptId)?.status).toBe("waiting");
  });

  test("that is accepted is the output of its attempt, in the boundary that follows", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    const turn = await deliver(rig, interactionId);
    const ack = await worker.advance(ACCEPTED, next("end"));
    expect(ack).toMatchObject({ parked: false, visit: 1 });
    const { attemptId, ...answered } = interaction(rig, interactionId);
    expect(answered).toMatchObject({ status: "accepted", answeredBy: "test" });
    expect(rig.reader.attempts.get(attemptId)).toMatchObject({
      status: "ok",
      output: { json: '{"title":"ONE"}' },
    });
    expect(newestSubmission(rig, interactionId).status).toBe("accepted");
    // The model goes on by itself: it has just been told that it is done.
    expect(rig.reader.turns.get(turn)).toMatchObject({ status: "open" });
    expect(rig.reader.turns.get(turn)?.abortReason).toBeUndefined();
  });

  test("can end its run", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    await submit(rig, interactionId);
    const worker = await rig.relaunch(runId);
    await worker.advance(ACCEPTED, next("end"));
    await worker.advance(OK, COMPLETE);
    expect(rig.run(runId).status).toBe("completed");
  });

  test("takes back a message that nobody has seen when it is accepted", async () => {
    const rig = new TestRig();
    const { worker } = await validating(rig);
    await worker.advance(ACCEPTED, next("end"));
    expect(told(rig, worker.runId)).toEqual(["step first cancelled"]);
  });

  test("is not accepted by a failure, which is not what a validation ends with", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    await expectRefusal(worker.advance(FAILED, FAIL), "REQUEST_INVALID");
    expect(interaction(rig, interactionId).status).toBe("validating");
  });

  test("gets its receipt again: by its key, and by its value when that was accepted", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    const first = await submit(rig, interactionId, { b: 1, a: 2 }, { key: "once" });
    const again = await submit(rig, interactionId, { b: 1, a: 2 }, { key: "once" });
    expect(again).toEqual({ ...first, outcome: "adopted" });
    const worker = await rig.relaunch(runId);
    await worker.advance(ACCEPTED, next("end"));
    const same = await submit(rig, interactionId, { a: 2, b: 1 });
    expect(same).toMatchObject({ outcome: "adopted", extra: first.extra });
    expect(same.revision).toBe(rig.run(runId).revision);
    const other = await expectRefusal(submit(rig, interactionId, { a: 3 }), "INTERACTION_CLOSED");
    expect(other.details.state).toBe("accepted");
    expect(other.message).toContain("test");
  });
});

describe("a result is refused", () => {
  test("while another is validated", async () => {
    const rig = new TestRig();
    const { interactionId } = await askingModel(rig);
    await submit(rig, interactionId);
    expect(await reasonOf(submit(rig, interactionId, 2))).toBe("SUBMISSION_IN_PROGRESS");
  });

  test("from another session, which is told the right one", async () => {
    const rig = new TestRig();
    const { interactionId } = await askingModel(rig);
    const refused = submit(rig, interactionId, 1, { sessionId: "other" });
    const { message, details } = await expectRefusal(refused, "WRONG_SESSION");
    expect(message).toContain(SESSION);
    expect(details.names).toEqual([SESSION]);
  });

  test.each([
    ["checkpoint", {}, "WRONG_KIND", "answer"],
    ["reply", REPLY, "WRONG_KIND", "next answer"],
    ["human_decision", DECISION, "HUMAN_ONLY", "a person decides"],
  ] as const)("for a %s, whose way is told", async (kind, request, reason, way) => {
    const rig = new TestRig();
    const worker = await shown(rig, NODES[kind]);
    const interactionId = await worker.ask(request);
    const { message } = await expectRefusal(submit(rig, interactionId), reason);
    expect(message).toContain(way);
  });

  test("for an id that nobody gave", async () => {
    expect(await reasonOf(submit(new TestRig(), "int_none"))).toBe("INTERACTION_NOT_FOUND");
  });

  test("while its run is paused, and after it was cancelled", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    await pause(rig, runId);
    expect(await reasonOf(submit(rig, interactionId))).toBe("ILLEGAL_TRANSITION");
    await cancel(rig, runId);
    expect(await reasonOf(submit(rig, interactionId))).toBe("INTERACTION_CLOSED");
  });

  test("when the deadline has passed, also before anybody has looked", async () => {
    const rig = new TestRig();
    const { interactionId } = await askingModel(rig, { timeoutMs: 5_000 });
    rig.at.clock.advance(5_000);
    const { details } = await expectRefusal(submit(rig, interactionId), "INTERACTION_CLOSED");
    expect(details.state).toBe("expired");
  });
});

describe("a rejected result", () => {
  test("leaves its request open for the same attempt, with the author's words", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    const ack = await worker.refuse("the title is missing");
    expect(ack.parked).toBe(true);
    expect(worker.run).toMatchObject({ status: "waiting", activation: "continue" });
    expect(interaction(rig, interactionId)).toMatchObject({
      status: "pending",
      lastError: "the title is missing",
      reminders: 0,
    });
    expect(newestSubmission(rig, interactionId)).toMatchObject({
      status: "rejected",
      reason: "refused",
      error: "the title is missing",
    });
    expect(rig.events(worker.runId).at(-1)).toBe("reject");
    await rig.exit(worker.proof.workerId);
    await submit(rig, interactionId, 2);
    const second = await rig.relaunch(worker.runId);
    expect(second.begin.attemptId).toBe(worker.begin.attemptId);
    await second.advance(ACCEPTED, next("end"));
  });

  test("leaves a turn that works on it to go on", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    await deliver(rig, interactionId);
    await worker.refuse();
    expect(told(rig, worker.runId)).toEqual(["step first delivered"]);
    expect(interaction(rig, interactionId).reminders).toBe(0);
  });

  test("of which the turn is over reminds the model, with the error, and counts that", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig);
    await endTurn(rig, await deliver(rig, interactionId));
    await worker.refuse("the title is missing");
    expect(told(rig, worker.runId)).toEqual(["step first delivered", "step reminder pending"]);
    const text = textOf(rig, messages(rig, worker.runId).at(-1));
    expect(text).toContain("the title is missing");
    expect(text).toContain("Reminder");
    expect(interaction(rig, interactionId).reminders).toBe(1);
    expect(rig.events(worker.runId).slice(-2)).toEqual(["reject", "remind"]);
  });

  test("ends the attempt when the model was reminded twice, by a name that can be routed", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    for (const _ of ["first", "reminded", "reminded again"]) {
      await submit(rig, interactionId);
      const worker = await rig.relaunch(runId);
      await endTurn(rig, await deliver(rig, interactionId));
      await worker.refuse();
    }
    expect(rig.run(runId)).toMatchObject({ status: "queued", activation: "verdict" });
    expect(interaction(rig, interactionId).status).toBe("cancelled");
    const attempt = rig.reader.attempts.newest(runId);
    expect(attempt).toMatchObject({ status: "failed", error: { name: "missing_submission" } });
    expect(attempt?.error?.message).toContain("no title");
    const router = await rig.relaunch(runId);
    await router.advance(undefined, next("end"));
  });

  test("whose deadline has passed meanwhile expires with it", async () => {
    const rig = new TestRig();
    const { worker, interactionId } = await validating(rig, { timeoutMs: 5_000 });
    const turn = await deliver(rig, interactionId);
    // It holds the deadline back while it lives.
    expect(await rig.pass(6_000)).toBe(0);
    expect(worker.run.status).toBe("running");
    await worker.refuse();
    expect(worker.run).toMatchObject({ status: "queued", activation: "expired", routing: true });
    expect(interaction(rig, interactionId).status).toBe("expired");
    expect(rig.reader.turns.get(turn)?.abortReason).toContain("deadline");
    expect(rig.events(worker.runId).slice(-2)).toEqual(["reject", "settle"]);
  });

  test("of another attempt, or when nothing is validated, is a mistake", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await expectRefusal(worker.refuse(), "ILLEGAL_TRANSITION");
    expect(worker.run.status).toBe("running");
  });
});

describe("a headless run", () => {
  test("gets a session of its own with its first request to a model, and only one", async () => {
    const rig = new TestRig();
    const worker = await rig.running("think");
    expect(worker.run.originSession).toBeUndefined();
    const interactionId = await worker.ask(AGENT);
    const { runId } = worker;
    const sessionId = `wf-${runId}`;
    expect(worker.run).toMatchObject({ mode: "headless", originSession: sessionId });
    expect(rig.reader.sessions.ofHeadlessRun(runId)).toMatchObject({
      sessionId,
      cwd: "/project",
      status: "detached",
    });
    await submit(rig, interactionId, 1, { sessionId });
    const second = await rig.relaunch(runId);
    await second.refuse();
    await pause(rig, runId);
    await resume(rig, runId);
    expect(new Set(messages(rig, runId).map((one) => one.sessionId))).toEqual(new Set([sessionId]));
  });
});
