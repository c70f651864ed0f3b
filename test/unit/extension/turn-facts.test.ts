import { expect, test } from "vitest";
import { TurnFacts } from "../../../src/extension/turn-facts.ts";
import type { TurnFact } from "../../../src/extension/turn-facts.ts";

const fact = (messageId: string, end?: TurnFact["end"]): TurnFact => ({
  messageId,
  entryId: "e1",
  replyText: "",
  replyWhole: false,
  ...(end === undefined ? {} : { end }),
});

test("facts are told in their order, each until it is dropped", () => {
  const facts = new TurnFacts();
  const opened = fact("msg_1");
  const ended = fact("msg_1", "completed");
  facts.add(opened);
  facts.add(ended);
  expect(facts.first()).toBe(opened);
  expect(facts.first()).toBe(opened);
  facts.drop(opened);
  expect(facts.first()).toBe(ended);
  facts.drop(ended);
  expect(facts.first()).toBeUndefined();
});

test("dropping what is gone drops nothing else", () => {
  const facts = new TurnFacts();
  const first = fact("msg_1");
  facts.add(first);
  facts.add(fact("msg_2"));
  facts.drop(first);
  facts.drop(first);
  expect(facts.size).toBe(1);
});

test("the end of a turn is known until it is confirmed", () => {
  const facts = new TurnFacts();
  facts.add(fact("msg_1"));
  expect(facts.hasEnd("msg_1")).toBe(false);
  facts.add(fact("msg_1", "lost"));
  expect(facts.hasEnd("msg_1")).toBe(true);
});

test("a list that outlives its reader is read by the next one", () => {
  const list: TurnFact[] = [];
  new TurnFacts(list).add(fact("msg_1", "lost"));
  expect(new TurnFacts(list).first()).toMatchObject({ messageId: "msg_1", end: "lost" });
});
