import { describe, expect, test } from "vitest";
import { decideDelivery } from "../../../src/extension/delivery.ts";
import type { DeliveryFacts } from "../../../src/extension/delivery.ts";
import { Latch, LATCH_IDLE_MS } from "../../../src/extension/latch.ts";

const FREE: DeliveryFacts = {
  idle: true,
  inputPending: false,
  onBranch: false,
  latched: false,
  settling: false,
  startsTurn: true,
  mayWake: true,
};

describe("a message", () => {
  test("is sent when nothing speaks against it", () => {
    expect(decideDelivery(FREE)).toBe("send");
  });

  test.each([
    [{ onBranch: true }, "delivered"],
    [{ latched: true }, "latched"],
    [{ idle: false }, "busy"],
    [{ inputPending: true }, "busy"],
    [{ settling: true }, "busy"],
    [{ mayWake: false }, "may_not_wake"],
  ] as const)("with %j is %s", (change, expected) => {
    expect(decideDelivery({ ...FREE, ...change })).toBe(expected);
  });

  test("that starts no turn needs no leave to wake, and waits for all else", () => {
    const card = { ...FREE, startsTurn: false, mayWake: false };
    expect(decideDelivery(card)).toBe("send");
    expect(decideDelivery({ ...card, idle: false })).toBe("busy");
    expect(decideDelivery({ ...card, latched: true })).toBe("latched");
  });

  test("that stands on the branch is never sent again, whatever else holds", () => {
    for (const key of ["idle", "mayWake", "latched", "inputPending", "settling"] as const) {
      expect(decideDelivery({ ...FREE, onBranch: true, [key]: !FREE[key] })).toBe("delivered");
    }
  });
});

describe("the latch", () => {
  const absent = (): boolean => false;
  const present = (): boolean => true;
  const latched = (): Latch => {
    const latch = new Latch();
    latch.set("msg_1");
    return latch;
  };

  test("holds a message that is not seen yet", () => {
    const latch = latched();
    latch.look(0, false, absent);
    expect(latch.messageId).toBe("msg_1");
  });

  test("opens when the message is seen", () => {
    const latch = latched();
    latch.look(0, false, present);
    expect(latch.messageId).toBeUndefined();
  });

  test("survives the end of the run that went on when the message was sent", () => {
    const latch = latched();
    latch.settled(absent);
    expect(latch.messageId).toBe("msg_1");
  });

  test("opens at the end of a later run that lacks the message", () => {
    const latch = latched();
    latch.runStarted();
    latch.settled(absent);
    expect(latch.messageId).toBeUndefined();
  });

  test("opens after ten idle seconds without the message, and counts only idle ones", () => {
    const latch = latched();
    latch.look(0, true, absent);
    latch.look(LATCH_IDLE_MS - 1, false, absent);
    latch.look(LATCH_IDLE_MS, true, absent);
    latch.look(2 * LATCH_IDLE_MS - 1, true, absent);
    expect(latch.messageId).toBe("msg_1");
    latch.look(2 * LATCH_IDLE_MS, true, absent);
    expect(latch.messageId).toBeUndefined();
  });

  test("begins anew with the next message", () => {
    const latch = latched();
    latch.look(0, true, absent);
    latch.look(LATCH_IDLE_MS, true, absent);
    latch.set("msg_2");
    latch.look(LATCH_IDLE_MS + 1, true, absent);
    expect(latch.messageId).toBe("msg_2");
  });
});
