import { describe, expect, test } from "vitest";
import { compile } from "../../../src/workflow/compile.ts";
import { agent, assistantMessage, compute, decision, notify } from "../../../src/workflow/index.ts";
import { nodeProblems, problems, run, warnings } from "./findings-of.ts";

describe("a step for a model", () => {
  test.each<[object]>([
    [{ prompt: "Do it." }],
    [{ prompt: async () => "Do it.", expectedOutput: () => "an object" }],
    [{ prompt: "x", schema: { type: "object" }, validate: run }],
    [{ prompt: "x", schema: true }],
    [{ prompt: "x", schema: { "~standard": { version: 1, vendor: "t", validate: run } } }],
    [{ prompt: "x", expectedOutput: { type: "object" } }],
    [{ prompt: "x", expectedOutput: assistantMessage() }],
    [{ prompt: "x", expectedOutput: assistantMessage({ maxChars: 9 }) }],
    [{ prompt: "x", allowedTools: [] }],
    [{ prompt: "x", allowedTools: () => ["read"] }],
    [{ prompt: "x", model: "provider/model" }],
    [{ prompt: "x", model: { args: ["--thinking", ""] } }],
    [{ prompt: "x", retry: { maxAttempts: 2 }, timeoutMs: null }],
  ])("may be stated as %j", (options) => {
    expect(nodeProblems(agent, options)).toEqual([]);
    expect(warnings({ nodes: { a: agent(options as never) } })).toEqual([]);
  });

  test.each<[object, string[]]>([
    [{}, ["nodes.a.prompt: must be a text or a function, not undefined"]],
    [{ prompt: " \n" }, ['nodes.a.prompt: must be a text or a function, not " \\n"']],
    [
      { prompt: "x", expectedOutput: 5 },
      ["nodes.a.expectedOutput: must be a text, a function, a schema or assistantMessage(), not 5"],
    ],
    [
      { prompt: "x", expectedOutput: { type: "object" }, schema: {} },
      ["nodes.a.expectedOutput: must be a text, because there is a schema besides"],
    ],
    [
      { prompt: "x", expectedOutput: assistantMessage(), validate: run, schema: {} },
      [
        "nodes.a.schema: has no use with assistantMessage(); remove one",
        "nodes.a.validate: has no use with assistantMessage(); remove one",
      ],
    ],
    [
      { prompt: "x", expectedOutput: assistantMessage({ maxChars: 0 }) },
      ["nodes.a.expectedOutput.maxChars: must be a whole number from 1 to 1000000, not 0"],
    ],
    [{ prompt: "x", validate: 5 }, ["nodes.a.validate: must be a function, not 5"]],
    [{ prompt: "x", schema: "object" }, ['nodes.a.schema: must be a JSON Schema, not "object"']],
    [
      { prompt: "x", schema: { default: new Date() } },
      [
        "nodes.a.schema: must be a JSON Schema in plain JSON: .default: Date is not JSON; use toISOString()",
      ],
    ],
    [
      { prompt: "x", allowedTools: "read" },
      ['nodes.a.allowedTools: must be a list of names, not "read"'],
    ],
    [{ prompt: "x", allowedTools: ["read", ""] }, ["nodes.a.allowedTools: must not be empty"]],
    [{ prompt: "x", model: "" }, ["nodes.a.model: must not be empty"]],
    [
      { prompt: "x", model: { provider: 5, args: "--x" } },
      [
        "nodes.a.model.provider: must be a text, not 5",
        'nodes.a.model.args: must be a list of texts, not "--x"',
      ],
    ],
  ])("is refused: %j", (options, found) => {
    expect(nodeProblems(agent, options)).toEqual(found);
  });

  test("may hold a schema that its library has marked with symbols", () => {
    const schema = { [Symbol("kind")]: "Object", type: "object", properties: {} };
    expect(nodeProblems(agent, { prompt: "x", schema })).toEqual([]);
  });

  test("is warned of a field that nothing reads, by the nearest that something does", () => {
    const options = { prompt: "x", expectedOuput: "y", model: { modle: "z" } } as never;
    expect(warnings({ nodes: { a: agent(options) } })).toEqual([
      "nodes.a.expectedOuput: unknown field, which is ignored; the nearest known field is expectedOutput",
      "nodes.a.model.modle: unknown field, which is ignored; the nearest known field is model",
    ]);
  });
});

describe("a decision", () => {
  test.each<[object]>([
    [{ question: "?", choices: ["a", "b"] }],
    [{ question: () => "?", choices: { a: "the first", b: { description: "the other" } } }],
    [{ question: "?", choices: [{ id: "a", description: "the first" }], field: "verdict" }],
    [{ question: "?", choices: ["Yes", "yes"], allowedTools: [] }],
  ])("may be stated as %j", (options) => {
    expect(nodeProblems(decision, options)).toEqual([]);
  });

  test.each<[object, string[]]>([
    [
      {},
      [
        "nodes.a.question: must be a text or a function, not undefined",
        "nodes.a.choices: must hold the names of the choices, not undefined",
      ],
    ],
    [{ question: "?", choices: [] }, ["nodes.a.choices: must hold the names of the choices"]],
    [{ question: "?", choices: {} }, ["nodes.a.choices: must hold the names of the choices"]],
    [{ question: "?", choices: ["a", "a"] }, ["nodes.a.choices.a: is there twice"]],
    [
      { question: "?", choices: ["é".normalize("NFC"), "é".normalize("NFD")] },
      [`nodes.a.choices["${"é".normalize("NFD")}"]: is there twice`],
    ],
    [
      { question: "?", choices: ["constructor", 5, " a"] },
      [
        "nodes.a.choices.constructor: is a reserved name",
        'nodes.a.choices["5"]: must be a text, not 5',
        'nodes.a.choices[" a"]: must not begin or end with a space',
      ],
    ],
    [
      { question: "?", choices: ["a"], field: "a.b" },
      ['nodes.a.field: must not hold ".", which separates the parts of a path'],
    ],
    [{ question: "?", choices: ["a"], field: "__proto__" }, ["nodes.a.field: is a reserved name"]],
  ])("is refused: %j", (options, found) => {
    expect(nodeProblems(decision, options)).toEqual(found);
  });
});

describe("a notice", () => {
  test("is news unless it is said to be final", () => {
    expect(notify({ message: "x" })).toMatchObject({ kind: "notify", notice: "progress" });
    expect(notify({ message: "x", kind: "final" })).toMatchObject({
      kind: "notify",
      notice: "final",
    });
  });

  test.each<[object, string]>([
    [{}, "message: must be a text or a function, not undefined"],
    [{ message: "x", kind: "urgent" }, 'kind: must be "progress" or "final", not "urgent"'],
  ])("is refused: %j", (options, message) => {
    expect(nodeProblems(notify, options)).toEqual([`nodes.a.${message}`]);
  });
});

describe("the end of a run", () => {
  test("is told by a turn, unless a card is enough", () => {
    expect(
      compile({ name: "w", startAt: "a", nodes: { a: compute({ run }) } }).graph,
    ).not.toHaveProperty("result");
    const { graph } = compile({
      name: "w",
      startAt: "a",
      nodes: { a: compute({ run }) },
      result: "card",
    });
    expect(graph?.result).toBe("card");
    expect(problems({ result: "mail" })).toEqual(['result: must be "turn" or "card", not "mail"']);
  });
});
