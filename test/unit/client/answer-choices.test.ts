import { expect, test } from "vitest";
import { answerOf, choicesOf } from "../../../src/client/answer-choices.ts";

test("choices that would read alike are told apart, so that none is sent for another", () => {
  const schema = { enum: ["true", true, "null", null, 1, "yes"] };
  const choices = choicesOf(schema);
  expect(choices.map(({ label }) => label)).toEqual([
    '"true"',
    "true",
    '"null"',
    "null",
    "1",
    "yes",
  ]);
  for (const { label, value } of choices) expect(answerOf(label, schema)).toBe(value);
});
