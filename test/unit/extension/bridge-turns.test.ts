/** What the host is told of turns, against a Pi and a host that the test plays. */
import { describe, expect, test } from "vitest";
import { BridgeRig, presentOf } from "../../support/bridge-fakes.ts";
import { assistant, detailsOf, user } from "../../support/branch-entries.ts";

const STEP = presentOf("msg_1");

async function inTurn(step = STEP): Promise<BridgeRig> {
  const rig = new BridgeRig();
  await rig.inTurnOf(step);
  return rig;
}

const ends = ({ host }: BridgeRig): readonly string[] =>
  host.turns.map(({ messageId, end = "opened" }) => `${messageId} ${end}`);

describe("a turn that a message started", () => {
  test("is told as open with its entry, and as running in each report", async () => {
    const rig = await inTurn();
    expect(rig.host.turns).toMatchObject([{ messageId: "msg_1", entryId: "e1" }]);
    expect(rig.host.branches.at(-1)).toMatchObject({
      idle: false,
      turn: { messageId: "msg_1", running: true },
    });
  });

  test("is completed with its reply", async () => {
    const rig = await inTurn();
    await rig.settle("the notes");
    expect(rig.host.turns.at(-1)).toMatchObject({
      messageId: "msg_1",
      entryId: "e1",
      end: "completed",
      replyText: "the notes",
      replyWhole: true,
    });
    expect(rig.host.branches.at(-1)?.turn).toBeUndefined();
  });

  test("is failed with what the provider said", async () => {
    const rig = await inTurn();
    await rig.settle({ stopReason: "error", errorMessage: "429: try again in 20s" });
    expect(rig.host.turns.at(-1)).toMatchObject({
      end: "failed",
      error: { kind: "rate_limit", retryAfterMs: 20_000 },
    });
  });

  test("holds the model to its tools, and only while it runs", async () => {
    const rig = await inTurn(presentOf("msg_1", { allowedTools: ["read"] }));
    expect(rig.bridge.allowedTools).toEqual(["read"]);
    await rig.settle();
    expect(rig.bridge.allowedTools).toBeUndefined();
    await rig.run();
    expect(rig.bridge.allowedTools).toBeUndefined();
  });

  test("is dropped when it never began, and nothing is told of it", async () => {
    const rig = new BridgeRig();
    await rig.attach({ present: STEP });
    await rig.passes(1_000);
    rig.bridge.runStarts(STEP.details);
    rig.pi.idle = true;
    await rig.passes(5_000);
    await rig.passes(5_000);
    expect(rig.host.turns).toEqual([]);
    expect(rig.host.branches.at(-1)?.turn).toBeUndefined();
  });
});

describe("a turn that was stopped", () => {
  test("by the user is told as aborted when nothing else explains it", async () => {
    const rig = await inTurn();
    await rig.ends(true);
    expect(ends(rig)).toEqual(["msg_1 opened"]);
    await rig.passes(249);
    expect(rig.host.branches.at(-1)?.turn).toEqual({ messageId: "msg_1", running: true });
    await rig.passes(1);
    expect(ends(rig)).toEqual(["msg_1 opened", "msg_1 aborted"]);
    expect(rig.bridge.waking.may).toBe(false);
  });

  test("by the user is aborted at once when the user speaks again", async () => {
    const rig = await inTurn();
    await rig.ends(true);
    await rig.run();
    expect(ends(rig)).toEqual(["msg_1 opened", "msg_1 aborted"]);
  });

  test("by the host's wish is told as stopped, and is no stop of the user", async () => {
    const rig = await inTurn();
    await rig.show({ abort: "msg_1" });
    await rig.show({ abort: "msg_1" });
    expect(rig.pi.aborts).toBe(1);
    await rig.ends(true);
    expect(ends(rig)).toEqual(["msg_1 opened", "msg_1 stopped"]);
    expect(rig.bridge.waking.may).toBe(true);
  });

  test("because the user compacts is lost, and is no stop of the user", async () => {
    const rig = await inTurn();
    await rig.ends(true);
    rig.bridge.manualCompact();
    await rig.passes(1_000);
    expect(ends(rig)).toEqual(["msg_1 opened", "msg_1 lost"]);
    expect(rig.bridge.waking.may).toBe(true);
  });

  test("because Pi leaves the session is told as lost before it has left", async () => {
    const rig = await inTurn();
    await rig.ends(true);
    await rig.bridge.close(300);
    expect(ends(rig)).toEqual(["msg_1 opened", "msg_1 lost"]);
    expect(rig.host.order.at(-1)).toBe("branch");
    expect(rig.wire.closed).toBe(1);
  });
});

test("a turn of another message, or of nobody, is not stopped by the host's wish", async () => {
  const rig = await inTurn();
  await rig.show({ abort: "msg_other" });
  expect(rig.pi.aborts).toBe(0);
  await rig.settle();
  await rig.run();
  await rig.show({ abort: "msg_1" });
  expect(rig.pi.aborts).toBe(0);
});

test("a message that was withdrawn while it was handed over is stopped when its turn begins", async () => {
  const rig = new BridgeRig();
  await rig.attach({ present: STEP, openMessageIds: ["msg_1"] });
  await rig.passes(1_000);
  await rig.show({ present: undefined, abort: "msg_1" });
  expect(rig.pi.aborts).toBe(0);
  await rig.run(STEP.details);
  expect(rig.pi.aborts).toBe(1);
});

describe("a run of the user", () => {
  test("belongs to no message, also when one joins it, which is then lost", async () => {
    const rig = new BridgeRig();
    await rig.attach({ present: STEP, openMessageIds: ["msg_1"] });
    await rig.passes(1_000);
    await rig.run();
    rig.bridge.messageWritten(STEP.details);
    rig.pi.write(STEP.details);
    rig.bridge.looked();
    await rig.rest();
    expect(rig.host.turns).toEqual([]);
    await rig.settle();
    expect(rig.host.turns).toMatchObject([{ messageId: "msg_1", entryId: "e2", end: "lost" }]);
  });

  test("that a card joined loses nothing", async () => {
    const rig = new BridgeRig();
    await rig.attach();
    await rig.run();
    rig.bridge.messageWritten(detailsOf({ id: "msg_1", kind: "notification" }));
    await rig.settle();
    expect(rig.host.turns).toEqual([]);
  });

  test("that a message of another session started is the user's", async () => {
    const rig = new BridgeRig();
    await rig.attach();
    await rig.run(detailsOf({ id: "msg_1", sessionId: "the original" }));
    await rig.settle();
    expect(rig.host.turns).toEqual([]);
  });
});

describe("facts", () => {
  test("are kept until the host takes them, and told first on the next attachment", async () => {
    const rig = await inTurn();
    rig.host.answer = () => "lost";
    await rig.settle("the notes");
    expect(rig.facts).toHaveLength(1);
    rig.host.order.length = 0;
    rig.host.answer = () => "taken";
    await rig.attach();
    expect(rig.host.order.slice(0, 2)).toEqual(["turn msg_1 completed", "branch"]);
    expect(rig.facts).toEqual([]);
  });

  test("that are refused are tried once more, for the attachment may have been over", async () => {
    const rig = await inTurn();
    rig.host.answer = (what) => (what === "turn" ? "refused" : "taken");
    await rig.settle();
    expect(rig.facts).toHaveLength(1);
    await rig.attach();
    expect(rig.facts).toEqual([]);
    expect(rig.host.order.at(-1)).toBe("branch");
  });

  test("stay for the next instance when the last report is never answered", async () => {
    const rig = await inTurn();
    rig.host.answer = () => new Promise(() => undefined);
    await rig.settle();
    const closing = rig.bridge.close(300);
    await rig.passes(299);
    expect(rig.wire.closed).toBe(0);
    await rig.passes(1);
    await closing;
    expect(rig.facts).toMatchObject([{ messageId: "msg_1", end: "completed" }]);
    await rig.rest();
    expect(rig.wire.closed).toBe(1);
  });
});

describe("a turn that the host believes open", () => {
  const turn = { openTurn: "msg_1", openMessageIds: ["msg_1"] };

  test("is told by what the branch shows of it", async () => {
    const rig = new BridgeRig();
    rig.pi.write(STEP.details);
    rig.pi.entries.push(assistant("a1", "the notes"), user("u1"));
    await rig.attach(turn);
    expect(rig.host.turns).toMatchObject([{ end: "completed", replyText: "the notes" }]);
    expect(rig.host.order).toEqual(["turn msg_1 completed", "branch"]);
  });

  test("is left to the host when the branch lacks its message", async () => {
    const rig = new BridgeRig();
    await rig.attach(turn);
    expect(rig.host.turns).toEqual([]);
    expect(rig.host.branches[0]).toMatchObject({ idle: true, turn: undefined });
  });

  test("is not guessed at while it runs, or when its end waits to be told", async () => {
    const rig = await inTurn();
    await rig.attach(turn);
    expect(ends(rig)).toEqual(["msg_1 opened"]);
    rig.host.answer = () => "lost";
    await rig.settle();
    rig.host.answer = () => "taken";
    rig.host.turns.length = 0;
    await rig.attach(turn);
    expect(ends(rig)).toEqual(["msg_1 completed"]);
  });
});

test("nothing happens any more once the session is closed", async () => {
  const rig = await inTurn();
  await rig.settle();
  await rig.bridge.close(300);
  await rig.bridge.close(300);
  rig.host.order.length = 0;
  rig.bridge.looked();
  rig.bridge.runSettled(true);
  await rig.show({ present: presentOf("msg_2") });
  await rig.passes(60_000);
  expect(rig.host.order).toEqual([]);
  expect(rig.pi.sent).toHaveLength(1);
  expect(rig.clock.pending).toBe(0);
});
