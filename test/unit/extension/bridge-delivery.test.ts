/** When messages go into the session, against a Pi and a host that the test plays. */
import { describe, expect, test } from "vitest";
import { BridgeRig, presentOf } from "../../support/bridge-fakes.ts";
import { detailsOf, user } from "../../support/branch-entries.ts";

const STEP = presentOf("msg_1");

async function attached(fields: Parameters<BridgeRig["attach"]>[0] = {}): Promise<BridgeRig> {
  const rig = new BridgeRig();
  await rig.attach({ present: STEP, openMessageIds: ["msg_1"], ...fields });
  return rig;
}

const idsSent = ({ pi }: BridgeRig): readonly string[] => pi.sent.map(({ details }) => details.id);

describe("a message of the picture", () => {
  test("is sent once the start is over, after the branch was told, and once", async () => {
    const rig = await attached();
    expect(rig.host.branches).toMatchObject([
      { messages: [{ messageId: "msg_1", entryId: "" }], idle: true, written: false, leafId: "" },
    ]);
    expect(rig.pi.sent).toEqual([]);
    await rig.passes(999);
    expect(rig.pi.sent).toEqual([]);
    await rig.passes(1);
    expect(rig.pi.sent).toMatchObject([{ text: "text of msg_1", startsTurn: true }]);
    await rig.show();
    await rig.passes(60_000);
    expect(idsSent(rig)).toEqual(["msg_1"]);
  });

  test("is not sent before the host has taken the report", async () => {
    const rig = new BridgeRig();
    rig.host.answer = () => "lost";
    await rig.attach({ present: STEP });
    await rig.passes(4_000);
    expect(rig.pi.sent).toEqual([]);
    rig.host.answer = () => "taken";
    await rig.passes(1_000);
    expect(idsSent(rig)).toEqual(["msg_1"]);
  });

  test("that stands on the branch already is only told of", async () => {
    const rig = new BridgeRig();
    rig.pi.write(STEP.details);
    await rig.attach({ present: STEP, openMessageIds: ["msg_1"] });
    await rig.passes(30_000);
    expect(rig.pi.sent).toEqual([]);
    expect(rig.host.branches[0]?.messages).toEqual([{ messageId: "msg_1", entryId: "e1" }]);
  });

  test("is not sent again where the user goes back before the next picture comes", async () => {
    const note = presentOf("msg_1", { startsTurn: false });
    const rig = new BridgeRig();
    rig.pi.entries.push(user("e0"));
    await rig.attach({ present: note, openMessageIds: ["msg_1"] });
    await rig.passes(1_000);
    expect(rig.host.branches.at(-1)?.messages).toMatchObject([{ messageId: "msg_1" }]);
    rig.pi.entries = [user("e9")];
    rig.bridge.treeChanged();
    await rig.passes(5_000);
    expect(idsSent(rig)).toEqual(["msg_1"]);
    // What the host did not take as delivered is asked for again, and comes again.
    await rig.show({ present: presentOf("msg_2", { startsTurn: false }) });
    expect(idsSent(rig)).toEqual(["msg_1", "msg_2"]);
  });

  test("that a fork copied from another session is sent here", async () => {
    const rig = new BridgeRig();
    rig.pi.write(detailsOf({ id: "msg_1", sessionId: "the original" }));
    await rig.attach({ present: STEP, openMessageIds: ["msg_1"] });
    await rig.passes(1_000);
    expect(idsSent(rig)).toEqual(["msg_1"]);
  });

  test("waits while Pi works, and goes when it is idle", async () => {
    const rig = await attached();
    await rig.run();
    await rig.passes(5_000);
    expect(rig.pi.sent).toEqual([]);
    await rig.settle();
    expect(idsSent(rig)).toEqual(["msg_1"]);
  });

  test("waits for a text that the user has just sent", async () => {
    const rig = await attached({ present: undefined });
    await rig.passes(1_000);
    rig.bridge.input();
    await rig.show({ present: STEP });
    expect(rig.pi.sent).toEqual([]);
    await rig.passes(2_000);
    expect(idsSent(rig)).toEqual(["msg_1"]);
  });

  test("is one of several at a time: the next goes after the first was seen", async () => {
    const rig = await attached();
    await rig.passes(1_000);
    await rig.show({ present: presentOf("msg_2") });
    expect(idsSent(rig)).toEqual(["msg_1"]);
    await rig.run(STEP.details);
    await rig.settle();
    expect(idsSent(rig)).toEqual(["msg_1", "msg_2"]);
  });

  test("that Pi has dropped is sent again after ten idle seconds", async () => {
    const rig = await attached();
    rig.pi.keeps = false;
    await rig.passes(1_000);
    await rig.passes(9_000);
    expect(idsSent(rig)).toEqual(["msg_1"]);
    await rig.passes(6_000);
    expect(idsSent(rig)).toEqual(["msg_1", "msg_1"]);
  });

  test("that a run of the user swallowed and dropped is sent again after that run", async () => {
    const rig = await attached();
    await rig.passes(1_000);
    await rig.run();
    await rig.settle();
    expect(idsSent(rig)).toEqual(["msg_1", "msg_1"]);
  });

  test("without a turn is written at once, also while nothing may wake the model", async () => {
    const card = presentOf("msg_1", { startsTurn: false });
    const rig = await attached({ present: card });
    expect(idsSent(rig)).toEqual(["msg_1"]);
    expect(rig.host.branches.at(-1)?.messages).toEqual([{ messageId: "msg_1", entryId: "e1" }]);
    expect(rig.host.branches.at(-1)?.written).toBe(false);
  });
});

describe("who does not hold the session", () => {
  test("tells and sends nothing, until it is promoted", async () => {
    const rig = await attached({ holder: false });
    await rig.passes(20_000);
    expect(rig.host.order).toEqual([]);
    expect(rig.pi.sent).toEqual([]);
    await rig.show({ holder: true });
    expect(rig.host.order[0]).toBe("branch");
    expect(idsSent(rig)).toEqual(["msg_1"]);
  });

  test("has nothing to do after the stream broke", async () => {
    const rig = await attached();
    await rig.detach();
    await rig.passes(20_000);
    expect(rig.pi.sent).toEqual([]);
    expect(rig.bridge.state).toEqual({ kind: "connecting" });
  });
});

describe("the branch is told", () => {
  test("with each attachment, and at least every ten seconds", async () => {
    const rig = await attached({ present: undefined });
    await rig.attach({ present: undefined });
    expect(rig.host.branches).toHaveLength(2);
    await rig.passes(10_000);
    expect(rig.host.branches.length).toBeGreaterThanOrEqual(3);
  });

  test("after a move in the tree, with the message gone, and nothing wakes the model", async () => {
    const rig = new BridgeRig();
    rig.pi.write(STEP.details);
    await rig.attach({ openMessageIds: ["msg_1"] });
    await rig.passes(1_000);
    rig.pi.entries = [];
    rig.bridge.treeChanged();
    await rig.show({ present: presentOf("msg_2") });
    expect(rig.host.branches.at(-1)?.messages).toEqual([{ messageId: "msg_1", entryId: "" }]);
    expect(rig.pi.sent).toEqual([]);
    rig.bridge.allowWake();
    await rig.rest();
    expect(idsSent(rig)).toEqual(["msg_2"]);
  });
});

describe("after the user has stopped the model", () => {
  test("messages wait for the user's next turn, and the link says why", async () => {
    const rig = await attached({ present: undefined });
    await rig.passes(1_000);
    await rig.run();
    await rig.ends(true);
    await rig.passes(250);
    await rig.show({ present: STEP });
    await rig.passes(60_000);
    expect(rig.pi.sent).toEqual([]);
    expect(rig.bridge.waking.why).toContain("you stopped the model");
    await rig.run();
    await rig.settle();
    expect(idsSent(rig)).toEqual(["msg_1"]);
  });

  test("a new attachment lets messages go on", async () => {
    const rig = await attached({ present: undefined });
    await rig.run();
    await rig.ends(true);
    await rig.passes(1_000);
    expect(rig.bridge.waking.may).toBe(false);
    await rig.attach({ present: STEP });
    expect(idsSent(rig)).toEqual(["msg_1"]);
  });
});

describe("the link", () => {
  test("tells of states, pictures and of when the model may be woken", async () => {
    const rig = new BridgeRig();
    let changes = 0;
    const stop = rig.bridge.onChange(() => {
      changes += 1;
    });
    await rig.attach();
    const afterAttach = changes;
    expect(afterAttach).toBeGreaterThan(0);
    expect(rig.bridge.picture?.attachmentId).toBe("tch_1");
    await rig.passes(1_000);
    expect(rig.bridge.waking.may).toBe(true);
    expect(changes).toBeGreaterThan(afterAttach);
    stop();
    await rig.stateIs({ kind: "fenced" });
    expect(rig.bridge.state).toEqual({ kind: "fenced" });
  });

  test("survives a listener that fails", async () => {
    const rig = new BridgeRig();
    rig.bridge.onChange(() => {
      throw new Error("broken");
    });
    await rig.attach({ present: presentOf("msg_1", { startsTurn: false }) });
    expect(idsSent(rig)).toEqual(["msg_1"]);
    expect(rig.guard.faults[0]).toMatchObject({ where: "listener" });
  });

  test("hands on the way to the host, with who is attached", async () => {
    const rig = await attached();
    expect(await rig.bridge.host()).toEqual({ attachmentId: "tch_1", capability: "secret" });
    expect(await rig.bridge.call(async ({ attachmentId }) => attachmentId)).toBe("tch_1");
    rig.bridge.takeOver();
    await rig.detach();
    expect(rig.wire.takeOvers).toBe(1);
    expect(await rig.bridge.host()).toEqual({});
  });

  test("that cannot be opened says so, and ends nothing", async () => {
    const rig = new BridgeRig({ failure: new Error("no folder") });
    await rig.rest();
    expect(rig.bridge.state).toEqual({ kind: "unsupported", reason: "no folder" });
    await expect(rig.bridge.host()).rejects.toThrow("no folder");
    await rig.bridge.close(300);
  });
});
