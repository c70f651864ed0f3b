import { describe, expect, test } from "vitest";
import {
  answerTo,
  deriveEnd,
  isWritten,
  lastAnswer,
  ownEntries,
  replyOf,
} from "../../../src/extension/branch.ts";
import { assistant, entry, own, user } from "../../support/branch-entries.ts";

const S = "session-1";
const NOW = Date.UTC(2025, 0, 1);

describe("messages of ours", () => {
  test("are found by their ids, with their entries", () => {
    const branch = [
      user("u1"),
      own("e1", "msg_1", S),
      assistant("a1", "yes"),
      own("e2", "msg_2", S),
    ];
    expect([...ownEntries(branch, S)]).toEqual([
      ["msg_1", "e1"],
      ["msg_2", "e2"],
    ]);
  });

  test("of another session, copied by a fork, are none", () => {
    expect(ownEntries([own("e1", "msg_1", "other")], S).size).toBe(0);
  });

  test("are told from those of other extensions and broken ones", () => {
    const strange = [
      entry({ type: "custom_message", id: "x1", customType: "other", details: { id: "msg_1" } }),
      entry({ type: "custom_message", id: "x2", customType: "workflow", details: "msg_2" }),
      entry({ type: "custom", id: "x3", customType: "workflow", details: { id: "msg_3" } }),
    ];
    expect(ownEntries(strange, S).size).toBe(0);
  });
});

test("a branch is on disk once the user or the model has spoken", () => {
  const model = entry({ type: "model_change", id: "m1" });
  expect(isWritten([model, own("e1", "msg_1", S)])).toBe(false);
  expect(isWritten([user("u1")])).toBe(true);
  expect(isWritten([own("e1", "msg_1", S), assistant("a1", "yes")])).toBe(true);
});

describe("the reply to a message", () => {
  test("is the last text of the model after it", () => {
    const branch = [
      assistant("a0", "before"),
      own("e1", "msg_1", S),
      assistant("a1", "I call a tool", { stopReason: "toolUse" }),
      entry({ type: "message", id: "t1", message: { role: "toolResult", content: [] } }),
      assistant("a2", "done"),
    ];
    expect(replyOf(answerTo(branch, "e1"))).toEqual({ replyText: "done", replyWhole: true });
  });

  test.each([
    ["the user's next words", user("u1")],
    ["the next message of a workflow", own("e2", "msg_2", S)],
  ])("ends at %s", (_, boundary) => {
    const branch = [
      own("e1", "msg_1", S),
      assistant("a1", "mine"),
      boundary,
      assistant("a2", "not"),
    ];
    expect(answerTo(branch, "e1")?.text).toBe("mine");
  });

  test("joins its parts of text and leaves out thoughts and calls", () => {
    const content = [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "one" },
      { type: "toolCall", id: "c1", name: "read" },
      { type: "text", text: "two" },
    ];
    const message = { role: "assistant", content, stopReason: "stop" };
    const branch = [own("e1", "msg_1", S), entry({ type: "message", id: "a1", message })];
    expect(answerTo(branch, "e1")?.text).toBe("one\ntwo");
  });

  test("that was cut is not whole, and one that is absent is empty", () => {
    const cut = [own("e1", "msg_1", S), assistant("a1", "half", { stopReason: "length" })];
    expect(replyOf(answerTo(cut, "e1"))).toEqual({ replyText: "half", replyWhole: false });
    expect(replyOf(answerTo([own("e1", "msg_1", S)], "e1"))).toEqual({
      replyText: "",
      replyWhole: false,
    });
    expect(answerTo(cut, "nowhere")).toBeUndefined();
  });
});

describe("the end of a turn that nobody saw", () => {
  const turn = { messageId: "msg_1", entryId: "e1" };
  const after = (...entries: Parameters<typeof deriveEnd>[0]): ReturnType<typeof deriveEnd> =>
    deriveEnd([own("e1", "msg_1", S), ...entries], turn, NOW);

  test("is completed when the model had its say", () => {
    expect(after(assistant("a1", "done"))).toMatchObject({
      ...turn,
      end: "completed",
      replyText: "done",
      replyWhole: true,
    });
    expect(after(assistant("a1", "ha", { stopReason: "length" }))).toMatchObject({
      end: "completed",
      replyWhole: false,
    });
  });

  test("is failed with the model's error", () => {
    const failed = assistant("a1", "", {
      stopReason: "error",
      errorMessage: "429 try again in 5s",
    });
    expect(after(failed)).toMatchObject({
      end: "failed",
      error: { kind: "rate_limit", retryAfterMs: 5_000 },
    });
  });

  test.each([
    ["nothing", []],
    ["an abort, by whomever", [assistant("a1", "I", { stopReason: "aborted" })]],
    ["a call whose result is missing", [assistant("a1", "", { stopReason: "toolUse" })]],
    ["only words after the user's", [user("u1"), assistant("a1", "hello")]],
  ])("is lost when the branch has %s", (_, entries) => {
    expect(after(...entries).end).toBe("lost");
  });
});

test("the last answer of all is found whoever it was for", () => {
  expect(lastAnswer([user("u1")])).toBeUndefined();
  expect(lastAnswer([assistant("a1", "x"), user("u1"), assistant("a2", "y")])?.text).toBe("y");
});
