import { ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { rejectionOf } from "../../src/client/rejection.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import {
  MessageKind,
  MessageReason,
  TurnErrorKind,
  TurnOutcome,
} from "../../src/gen/piworkflows/common/v1/session_pb.ts";
import { InteractionKind } from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { diagnose } from "../../src/host/diagnosis.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { command, rejected } from "../support/handler-rig.ts";
import { cancel, pause } from "../support/scenes.ts";
import {
  AGENT,
  askingModel,
  DECISION,
  interaction,
  REPLY,
  SESSION,
  shown,
  told,
} from "../support/session-scenes.ts";
import { startSessions } from "../support/session-rig.ts";
import type { FakePi, SessionRig } from "../support/session-rig.ts";

/** A Pi that holds the session and works on the step of a run. */
async function working(
  all: SessionRig,
  request: Parameters<typeof askingModel>[1] = AGENT,
): Promise<{ pi: FakePi; runId: string; interactionId: string; messageId: string }> {
  const pi = all.pi();
  await pi.attach();
  const asked = await askingModel(all.rig, request);
  const { messageId } = await pi.take();
  await pi.until(({ openTurn }) => openTurn === messageId);
  return { pi, ...asked, messageId };
}

function sound({ rig, faults }: SessionRig): void {
  expect(diagnose(rig.reader)).toEqual([]);
  expect(faults).toEqual([]);
}

describe("a session that is attached", () => {
  test("is shown a step, and its turn is followed to the reminder", async () => {
    const all = await startSessions();
    const pi = all.pi();
    expect(await pi.attach()).toMatchObject({ holder: true, coordinatorEpoch: 1n, runs: [] });
    const { runId, interactionId } = await askingModel(all.rig);
    const step = await pi.take();
    expect(step).toMatchObject({
      kind: MessageKind.STEP,
      reason: MessageReason.FIRST,
      interactionKind: InteractionKind.AGENT,
      runId,
      interactionId,
      node: "think",
      summary: AGENT.summary,
      startsTurn: true,
      choices: [],
    });
    expect(step.text).toContain(interactionId);
    await pi.until(({ openTurn, present }) => openTurn === step.messageId && present === undefined);
    expect(all.rig.reader.messages.get(step.messageId)).toMatchObject({
      status: "delivered",
      entryId: "entry-1",
    });
    expect(pi.picture.runs[0]).toMatchObject({
      summary: { runId, status: RunStatus.WAITING },
      waitsFor: "a result of the model",
    });
    await pi.settle(step.messageId, TurnOutcome.COMPLETED);
    expect(await pi.shown()).toMatchObject({ reason: MessageReason.REMINDER, interactionId });
    expect(told(all.rig, runId)).toEqual(["step first delivered", "step reminder offered"]);
    sound(all);
  });

  test("gives the reply of its turn as the answer, once", async () => {
    const all = await startSessions();
    const { pi, runId, interactionId, messageId } = await working(all, REPLY);
    const reply = { replyText: "All done.", replyWhole: true };
    await pi.settle(messageId, TurnOutcome.COMPLETED, reply);
    await pi.settle(messageId, TurnOutcome.COMPLETED, reply);
    await pi.until(({ runs }) => runs[0]?.summary?.status === RunStatus.QUEUED);
    expect(interaction(all.rig, interactionId).status).toBe("accepted");
    expect(told(all.rig, runId)).toEqual(["step first delivered"]);
    sound(all);
  });

  test("waits when the provider says so", async () => {
    const all = await startSessions();
    const { pi, messageId } = await working(all);
    await pi.settle(messageId, TurnOutcome.FAILED, {
      error: { kind: TurnErrorKind.USAGE_LIMIT, message: "quota", retryAfterMs: 3_600_000n },
    });
    const picture = await pi.until(({ heldUntil }) => heldUntil !== undefined);
    expect(picture.runs[0]?.waitsFor).toBe("the provider's usage limit");
    expect(picture.present).toBeUndefined();
    sound(all);
  });

  test("is asked to stop a turn whose run was cancelled", async () => {
    const all = await startSessions();
    const { pi, runId, messageId } = await working(all);
    await cancel(all.rig, runId);
    const { abort } = await pi.until((picture) => picture.abort !== undefined);
    expect(abort).toMatchObject({ messageId });
    expect(abort?.reason).not.toBe("");
    await pi.settle(messageId, TurnOutcome.STOPPED);
    const last = await pi.until((picture) => picture.abort === undefined);
    expect(last.ended?.summary?.status).toBe(RunStatus.CANCELLED);
    sound(all);
  });

  test("is shown a person's decision with its choices and no turn", async () => {
    const all = await startSessions();
    const pi = all.pi();
    const { capability } = await pi.attach();
    expect(all.capabilities.check(capability)).toBe(true);
    const worker = await shown(all.rig, "choose");
    await worker.ask(DECISION);
    const card = await pi.take();
    expect(card).toMatchObject({
      kind: MessageKind.HUMAN_DECISION,
      interactionKind: InteractionKind.HUMAN_DECISION,
      startsTurn: false,
    });
    expect(card.choices.map(({ id }) => id)).toEqual(["yes", "no"]);
    pi.end();
    await pi.ended;
    await expect.poll(() => all.capabilities.check(capability)).toBe(false);
    sound(all);
  });

  test("gets the same step again after it was closed and opened again", async () => {
    const all = await startSessions();
    const first = all.pi();
    await first.attach();
    const { interactionId } = await askingModel(all.rig);
    const { messageId } = await first.shown();
    first.end();
    await expect.poll(() => all.rig.reader.sessions.get(SESSION)?.status).toBe("detached");
    const second = all.pi();
    expect(await second.attach()).toMatchObject({ coordinatorEpoch: 2n });
    expect(await second.shown()).toMatchObject({ messageId, interactionId });
    // Pi ended in the middle of the turn: the branch has the message and no turn goes on.
    await second.open(messageId);
    second.branch.set(messageId, "entry-1");
    await second.report();
    const again = await second.until(
      ({ present }) => present !== undefined && present.messageId !== messageId,
    );
    expect(again.present).toMatchObject({ reason: MessageReason.RESUMED, interactionId });
    sound(all);
  });

  test("is told that its stream is alive while nothing changes", async () => {
    const clock = new FakeClock();
    const all = await startSessions({ clock });
    const pi = all.pi();
    const { attachmentId } = await pi.attach();
    await expect
      .poll(() => {
        clock.advance(1_000);
        return pi.pictures.length;
      })
      .toBe(2);
    expect(pi.picture).toMatchObject({ heartbeat: true, attachmentId, holder: true });
    expect(clock.monotonic()).toBeGreaterThanOrEqual(10_000);
    expect(all.hub.attachedSessions()).toEqual([
      { sessionId: SESSION, pid: 1_000, mode: "rpc", standbys: 0 },
    ]);
  });
});

describe("two Pi processes with one session", () => {
  test("the second only looks, and takes over when the first ends", async () => {
    const all = await startSessions();
    const { pi: first, runId, messageId } = await working(all);
    const second = all.pi();
    const look = await second.attach();
    expect(look).toMatchObject({ holder: false, openMessageIds: [], openTurn: messageId });
    expect(look.runs[0]?.summary?.runId).toBe(runId);
    expect((await rejected(second.report())).reason).toBe(Reason.SESSION_FENCED);
    expect((await rejected(second.open(messageId))).reason).toBe(Reason.SESSION_FENCED);
    first.end();
    const promoted = await second.until(({ holder }) => holder);
    expect(promoted.attachmentId).toBe(look.attachmentId);
    await second.until(({ coordinatorEpoch }) => coordinatorEpoch === 2n);
    // The turn went with the process that had it.
    second.branch.set(messageId, "entry-1");
    await second.report();
    expect(await second.shown()).toMatchObject({ reason: MessageReason.RESUMED });
    sound(all);
  });

  test("a person may take the session over; the first is told so and refused from then on", async () => {
    const all = await startSessions();
    const { pi: first, messageId } = await working(all);
    const second = all.pi();
    expect(await second.attach({ takeOver: true })).toMatchObject({ holder: true });
    const end = await first.ended;
    expect(rejectionOf(ConnectError.from(end))?.reason).toBe(Reason.SESSION_FENCED);
    const late = first.settle(messageId, TurnOutcome.ABORTED);
    expect((await rejected(late)).reason).toBe(Reason.SESSION_FENCED);
    expect(all.rig.reader.turns.get(messageId)?.status).toBe("open");
    sound(all);
  });
});

describe("a run that is moved here", () => {
  test("is shown here, and its turn in the old session stops", async () => {
    const all = await startSessions();
    const { pi: old, runId, interactionId, messageId } = await working(all);
    const here = all.pi({ sessionId: "here", sessionFile: "" });
    await here.attach();
    const request = { command: command("adopt-1"), runId: runId.slice(-8), ...here.name };
    const { receipt } = await here.client.adoptRun(request);
    expect(receipt).toMatchObject({ runId });
    expect(await here.shown()).toMatchObject({ interactionId, reason: MessageReason.RESUMED });
    const { abort } = await old.until((picture) => picture.abort !== undefined);
    expect(abort?.messageId).toBe(messageId);
    await old.settle(messageId, TurnOutcome.STOPPED);
    const left = await old.until((picture) => picture.abort === undefined);
    expect(left.runs).toEqual([]);
    // The same wish again, on another attachment of the session.
    here.end();
    await here.ended;
    const again = all.pi({ sessionId: "here" });
    await again.attach();
    const repeat = await again.client.adoptRun({ ...request, ...again.name });
    expect(repeat.receipt?.revision).toBe(receipt?.revision);
    sound(all);
  });

  test("moves to the one who holds the session alone", async () => {
    const all = await startSessions();
    const { runId } = await working(all);
    const here = all.pi({ sessionId: "here" });
    await here.attach();
    const standby = all.pi({ sessionId: "here" });
    await standby.attach();
    const wish = standby.client.adoptRun({ command: command(), runId, ...standby.name });
    expect((await rejected(wish)).reason).toBe(Reason.SESSION_FENCED);
  });
});

describe("what a session may say", () => {
  test("a report of an attachment that is gone is refused with the way back", async () => {
    const all = await startSessions();
    const pi = all.pi();
    await pi.attach();
    const stale = { ...pi.name, attachmentId: "tch_gone", messageId: "msg_1" };
    const refused = await rejected(pi.client.reportTurn(stale));
    expect(refused).toMatchObject({ reason: Reason.REQUEST_INVALID });
    expect(refused.message).toContain("attach again");
  });

  test.each([
    ["no session", { sessionId: "" }],
    ["a relative directory", { cwd: "project" }],
    ["a relative file", { sessionFile: "one.jsonl" }],
    ["no mode", { mode: "" }],
  ])("an attachment with %s is refused", async (_name, change) => {
    const all = await startSessions();
    const refused = await rejected(all.pi().attach(change));
    expect(refused.reason).toBe(Reason.REQUEST_INVALID);
  });

  test("a turn of a session that the host does not know of changes nothing", async () => {
    const all = await startSessions();
    const { runId } = await askingModel(all.rig);
    const pi = all.pi({ sessionId: "fork" });
    await pi.attach();
    const [message] = all.rig.reader.messages.ofRun(runId, 1);
    await pi.settle(message?.messageId ?? "", TurnOutcome.COMPLETED);
    await pi.report({ messages: [{ messageId: message?.messageId ?? "", entryId: "copied" }] });
    expect(told(all.rig, runId)).toEqual(["step first pending"]);
    await pause(all.rig, runId);
    sound(all);
  });
});
