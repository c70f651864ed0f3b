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
  return (await refused(schema, answer)).message;
}

async function refused(schema: string, answer: string): Promise<HostError> {
  const error: unknown = await checkAnswer(schema, answer, { runId: "run_1" }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HostError)) throw new Error(`expected a refusal, got ${String(error)}`);
  expect(error.reason).toBe("ANSWER_INVALID");
  return error;
}

describe("an answer with a schema", () => {
  test("is taken when it fits", async () => {
    await expect(checkAnswer(SHIP, '{"ship":true}')).resolves.toBeUndefined();
  });

  test("is refused with the place and the rule when it does not", async () => {
    expect(await refusal(SHIP, '{"ship":"yes"}')).toBe("answer.ship must be boolean");
    expect(await refusal(SHIP, "{}")).toBe('answer must have the property "ship"');
  });

  test("is told all that does not fit, with the names and values that would", async () => {
    const schema = {
      type: "object",
      required: ["target", "when"],
      additionalProperties: false,
      properties: {
        target: { enum: ["staging", "production", 3] },
        when: { type: "string" },
        "by/whom": { type: "array", items: { type: "object", required: ["name"] } },
        confirm: { const: true },
        count: { minimum: 2 },
      },
    };
    const answer = { target: "prod", "by/whom": [{}, 5], confirm: false, count: 1, note: "x" };
    const { message, details } = await refused(JSON.stringify(schema), JSON.stringify(answer));
    const expected = [
      ["answer", 'must have the property "when"'],
      ["answer", 'must not have the property "note"'],
      ["answer.target", 'must be one of "staging", "production", 3'],
      ['answer["by/whom"][0]', 'must have the property "name"'],
      ['answer["by/whom"][1]', "must be object"],
      ["answer.confirm", "must be true"],
      ["answer.count", "must be >= 2"],
    ];
    expect(details.problems?.map(({ place, message: what }) => [place, what])).toEqual(expected);
    expect(details.runId).toBe("run_1");
    expect(message).toBe(expected.map((one) => one.join(" ")).join("; "));
  });

  test("has a bound for what it is told", async () => {
    const schema = JSON.stringify({ items: { enum: ["x".repeat(500)] } });
    const { message, details } = await refused(schema, JSON.stringify(Array(5_000).fill("y")));
    expect(details.problems).toHaveLength(21);
    expect(details.problems?.at(-1)).toEqual({ place: "answer", message: "has 4980 more faults" });
    expect(message.length).toBeLessThan(4_000);
    const long = await refused(schema, JSON.stringify(Array(50_000).fill("y")));
    expect(long.details.problems).toHaveLength(1);
  });

  test("is checked by the 2020-12 rules", async () => {
    expect(await refusal(SHIP, '{"ship":true,"tags":["b"]}')).toContain("answer.tags[0]");
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
