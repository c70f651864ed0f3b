import { describe, expect, test } from "vitest";
import { checkAnswer } from "../../src/host/answer-schema.ts";
import { HostError } from "../../src/host/errors.ts";
import { SCHEMA_BYTES_MAX } from "../../src/host/limits.ts";

const SHIP = JSON.stringify({
  type: "object",
  required: ["ship"],
  properties: { ship: { type: "boolean" }, tags: { prefixItems: [{ const: "a" }] } },
  additionalProperties: false,
});

async function refusal(schema: string, answer: string): Promise<string> {
  const error: unknown = await checkAnswer(schema, answer).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HostError)) throw new Error(`expected a refusal, got ${String(error)}`);
  expect(error.reason).toBe("ANSWER_INVALID");
  return error.message;
}

describe("an answer with a schema", () => {
  test("is taken when it fits", async () => {
    await expect(checkAnswer(SHIP, '{"ship":true}')).resolves.toBeUndefined();
  });

  test("is refused with the place and the rule when it does not", async () => {
    expect(await refusal(SHIP, '{"ship":"yes"}')).toBe("answer/ship must be boolean");
    expect(await refusal(SHIP, "{}")).toBe("answer must have required property 'ship'");
  });

  test("is checked by the 2020-12 rules", async () => {
    expect(await refusal(SHIP, '{"ship":true,"tags":["b"]}')).toContain("answer/tags/0");
  });

  test("may have a schema that says only yes or no", async () => {
    await expect(checkAnswer("true", "1")).resolves.toBeUndefined();
    expect(await refusal("false", "1")).toContain("boolean schema is false");
  });
});

describe("a schema that cannot be used", () => {
  test.each([
    ["an unknown type", '{"type":"wish"}', "type"],
    ["a reference to nowhere", '{"$ref":"https://example.invalid/x"}', "can't resolve reference"],
    ["too many bytes", JSON.stringify({ title: "x".repeat(SCHEMA_BYTES_MAX) }), "larger than"],
  ])("is named: %s", async (_, schema, words) => {
    const message = await refusal(schema, "1");
    expect(message).toContain("the schema of this checkpoint cannot be used");
    expect(message).toContain(words);
  });
});

// An author's pattern meets an answer that makes it try 2^40 ways.
describe("a pattern that never ends", () => {
  test("is ended, and the answer refused", async () => {
    const schema = JSON.stringify({ type: "string", pattern: "^(a+)+$" });
    const answer = JSON.stringify(`${"a".repeat(40)}!`);
    expect(await refusal(schema, answer)).toContain("could not be checked");
    await expect(checkAnswer(schema, '"aaa"')).resolves.toBeUndefined();
  });
});
