import { describe, expect, test } from "vitest";
import type { NodeOutcome } from "../../../../src/worker/nodes/executor.ts";
import { execute } from "../../../../src/worker/nodes/index.ts";
import { CancelledError, TimeoutError } from "../../../../src/workflow/errors.ts";
import { agent, assistantMessage, decision, notify } from "../../../../src/workflow/index.ts";
import type { NodeDefinition, StandardSchema } from "../../../../src/workflow/index.ts";
import { testContext, testTools } from "../../../support/node-tools.ts";

function run(node: NodeDefinition, tools = testTools()): Promise<NodeOutcome> {
  return execute(node, testContext(tools, { input: { n: 5 } }), tools);
}

function asked(request: object): object {
  return { kind: "interaction", request };
}

describe("an agent step", () => {
  test("asks with its prompt, what it expects and its options", async () => {
    const node = agent({
      prompt: async ({ input }) => `\n  Draft ${JSON.stringify(input)}.\nCarefully.`,
      expectedOutput: () => "an object",
      schema: { type: "object" },
      allowedTools: () => ["read"],
      model: "openrouter/anthropic/claude",
    });
    expect(await run(node)).toEqual(
      asked({
        kind: "agent",
        summary: 'Draft {"n":5}.',
        requestJson: "null",
        prompt: '\n  Draft {"n":5}.\nCarefully.',
        expectedOutput: "an object",
        schemaJson: '{"type":"object"}',
        allowedTools: ["read"],
        model: { provider: "openrouter", model: "anthropic/claude" },
      }),
    );
  });

  test("needs no more than a prompt, and is listed by its label where it has one", async () => {
    const base = { kind: "agent", requestJson: "null", prompt: "Do it." };
    expect(await run(agent({ prompt: "Do it." }))).toEqual(asked({ ...base, summary: "Do it." }));
    expect(await run(agent({ prompt: "Do it.", statusDetail: "drafting" }))).toEqual(
      asked({ ...base, summary: "drafting" }),
    );
    const modelled = agent({ prompt: "Do it.", model: { args: ["-x"] }, allowedTools: [] });
    expect(await run(modelled)).toMatchObject(
      asked({ ...base, allowedTools: [], model: { args: ["-x"] } }),
    );
  });

  test("asks for a reply, as long as it may be", async () => {
    const node = agent({ prompt: "Say it.", expectedOutput: assistantMessage({ maxChars: 9 }) });
    const request = { kind: "reply", summary: "Say it.", requestJson: "null", prompt: "Say it." };
    expect(await run(node)).toEqual(asked({ ...request, replyCharsMax: 9 }));
    const unlimited = agent({ prompt: "Say it.", expectedOutput: assistantMessage() });
    expect(await run(unlimited)).toEqual(asked(request));
  });

  test("shows the JSON Schema of a schema that knows it, and none of another", async () => {
    const standard = {
      version: 1,
      vendor: "t",
      validate: (value: unknown) => ({ value }),
    } as const;
    const shows = (jsonSchema: unknown): StandardSchema =>
      ({ "~standard": { ...standard, jsonSchema } }) as StandardSchema;
    const input = ({ target }: { target: string }): object => ({ target, type: "string" });
    const schemaOf = async (schema: StandardSchema): Promise<unknown> => {
      const outcome = await run(agent({ prompt: "x", schema }));
      return outcome.kind === "interaction" ? outcome.request.schemaJson : outcome;
    };
    expect(await schemaOf(shows({ input }))).toBe('{"target":"draft-2020-12","type":"string"}');
    expect(await schemaOf(shows(undefined))).toBeUndefined();
    const throws = (): never => {
      throw new Error("a date has no JSON Schema");
    };
    expect(await schemaOf(shows({ input: throws }))).toBeUndefined();
  });

  test("takes a schema where older files state it, without the symbols of its library", async () => {
    const expectedOutput = { [Symbol("kind")]: 1, type: "string" } as never;
    expect(await run(agent({ prompt: "x", expectedOutput }))).toMatchObject(
      asked({ schemaJson: '{"type":"string"}' }),
    );
  });

  test.each<[NodeDefinition, string]>([
    [agent({ prompt: () => "" }), "nodes.n.prompt: must not be empty"],
    [agent({ prompt: () => 5 as never }), "nodes.n.prompt: must be a text, not number"],
    [
      agent({ prompt: "x", expectedOutput: () => null as never }),
      "nodes.n.expectedOutput: must be a text, not null",
    ],
    [
      agent({ prompt: "x", allowedTools: () => "read" as never }),
      "nodes.n.allowedTools: must be a list of names",
    ],
    [
      agent({ prompt: "x", allowedTools: () => [5] as never }),
      "nodes.n.allowedTools[0]: must be a text, not number",
    ],
    [agent({ prompt: () => Promise.reject(new Error("no material")) }), "no material"],
  ])("fails when it cannot ask (%#)", async (node, message) => {
    expect(await run(node)).toMatchObject({ kind: "failed", error: { message } });
  });

  test("that takes too long to build its prompt times out, and a cancelled one asks nobody", async () => {
    const late = testTools();
    const slow = agent({
      prompt: () => {
        late.abort(new TimeoutError("n", 9));
        return "x";
      },
    });
    expect(await run(slow, late)).toMatchObject({ kind: "timed_out" });
    const cancelled = testTools();
    cancelled.abort(new CancelledError());
    expect(await run(agent({ prompt: "x" }), cancelled)).toEqual({ kind: "stopped" });
  });
});

describe("the text of a step", () => {
  const limit = 96_000;

  test.each<[string, NodeDefinition]>([
    ["prompt with 96001", agent({ prompt: "x".repeat(limit + 1) })],
    [
      "prompt with 96001",
      agent({ prompt: "x".repeat(limit + 1), expectedOutput: assistantMessage() }),
    ],
    [
      "expectedOutput with 60000",
      agent({ prompt: "x".repeat(50_000), expectedOutput: "y".repeat(60_000) }),
    ],
    [
      "schema with 70012",
      agent({ prompt: "x".repeat(50_000), schema: { title: "y".repeat(70_000) } }),
    ],
    ["prompt with 96000", decision({ question: "x".repeat(limit), choices: ["a"] })],
  ])("fails the attempt when it is too long, naming %s", async (largest, node) => {
    const outcome = await run(node);
    expect(outcome).toMatchObject({ kind: "failed", retryable: false });
    const message = outcome.kind === "failed" ? outcome.error.message : "";
    expect(message).toContain(`more than ${limit}; the largest part is ${largest}`);
  });

  test("may be just as long as is allowed", async () => {
    expect(await run(agent({ prompt: "x".repeat(limit) }))).toMatchObject({ kind: "interaction" });
  });
});

describe("a decision", () => {
  test("is an agent step whose result is one of a closed list", async () => {
    const node = decision({
      question: ({ input }) => `Which way with ${JSON.stringify(input)}?`,
      choices: { fix: "repair it first", ship: { description: "it is good" } },
      allowedTools: [],
    });
    expect(await run(node)).toEqual(
      asked({
        kind: "agent",
        summary: 'Which way with {"n":5}?',
        requestJson: "null",
        prompt: 'Which way with {"n":5}?',
        expectedOutput:
          'An object whose field "route" is exactly one of:\n- "fix": repair it first\n- "ship": it is good',
        schemaJson:
          '{"type":"object","required":["route"],"properties":{"route":{"enum":["fix","ship"]}}}',
        allowedTools: [],
      }),
    );
  });

  test("may name its field", async () => {
    const node = decision({ question: "?", choices: ["a"], field: "verdict" });
    expect(await run(node)).toMatchObject(
      asked({ expectedOutput: 'An object whose field "verdict" is exactly one of:\n- "a"' }),
    );
  });

  test("fails when it has no question", async () => {
    expect(await run(decision({ question: () => " ", choices: ["a"] }))).toMatchObject({
      kind: "failed",
      error: { message: "nodes.n.question: must not be empty" },
    });
  });
});

describe("a notice", () => {
  test("ends with what it says, which goes to the session with it", async () => {
    const news = notify({ message: async ({ input }) => `now at ${JSON.stringify(input)}` });
    expect(await run(news)).toEqual({
      kind: "ok",
      outputJson: JSON.stringify({ message: 'now at {"n":5}', kind: "progress" }),
      notification: { text: 'now at {"n":5}', final: false },
    });
    expect(await run(notify({ message: "the end", kind: "final" }))).toMatchObject({
      outputJson: '{"message":"the end","kind":"final"}',
      notification: { final: true },
    });
  });

  test("is well-formed, whatever a text was cut by", async () => {
    expect(await run(notify({ message: "cut \ud83d" }))).toMatchObject({
      kind: "ok",
      notification: { text: "cut \ufffd" },
    });
  });

  test.each<[NodeDefinition, string]>([
    [notify({ message: () => "" }), "nodes.n.message: must not be empty"],
    [
      notify({ message: "x".repeat(16_001) }),
      "nodes.n.message: has 16001 characters, more than 16000; write a file and name its path",
    ],
    [
      notify({ message: () => undefined as never }),
      "nodes.n.message: must be a text, not undefined",
    ],
  ])("fails when it has nothing to say, or too much (%#)", async (node, message) => {
    expect(await run(node)).toMatchObject({ kind: "failed", error: { message } });
  });

  test("is not given once the run was cancelled", async () => {
    const tools = testTools();
    tools.abort(new CancelledError());
    expect(await run(notify({ message: "x" }), tools)).toEqual({ kind: "stopped" });
  });
});
