import { describe, expect, test } from "vitest";
import type { NodeOutcome } from "../../../../src/worker/nodes/executor.ts";
import { validateSubmission } from "../../../../src/worker/validation/submission.ts";
import {
  agent,
  assistantMessage,
  compute,
  decision,
  NonRetryableError,
} from "../../../../src/workflow/index.ts";
import type { NodeDefinition, StandardSchema } from "../../../../src/workflow/index.ts";
import { testContext, testTools } from "../../../support/node-tools.ts";

function submit(node: NodeDefinition, value: unknown): Promise<NodeOutcome> {
  const context = testContext(testTools(), { input: { n: 5 } });
  return validateSubmission({ node, path: "n", context }, JSON.stringify(value));
}

function accepted(output: unknown): object {
  return { kind: "ok", outputJson: JSON.stringify(output) };
}

function rejected(message: string): object {
  return { kind: "rejected", message };
}

describe("a submitted value", () => {
  test.each([[null], [0], [""], [{ notes: "x" }], [[]]])(
    "is the output when nothing says what it must be: %j",
    async (value) => {
      expect(await submit(agent({ prompt: "x" }), value)).toEqual(accepted(value));
    },
  );

  test("is what the author's code makes of it, now or later", async () => {
    const now = agent({ prompt: "x", validate: (value, { input }) => ({ value, input }) });
    expect(await submit(now, 1)).toEqual(accepted({ value: 1, input: { n: 5 } }));
    const later = agent({ prompt: "x", validate: async () => null });
    expect(await submit(later, 1)).toEqual(accepted(null));
  });

  test("stays what it is when the author's code returns nothing", async () => {
    expect(await submit(agent({ prompt: "x", validate: () => undefined }), { a: 1 })).toEqual(
      accepted({ a: 1 }),
    );
  });

  test("may be changed in place, which nobody else sees", async () => {
    const trims = agent({
      prompt: "x",
      validate: (value: { notes: string }) => {
        value.notes = value.notes.trim();
      },
    });
    expect(await submit(trims, { notes: " x " })).toEqual(accepted({ notes: "x" }));
  });

  test.each<[() => unknown, string]>([
    [
      () => {
        throw new Error("notes must not be empty");
      },
      "notes must not be empty",
    ],
    [() => Promise.reject(new NonRetryableError("never")), "never"],
    [
      () => {
        throw new TypeError("");
      },
      "TypeError",
    ],
    [() => Promise.reject("just a text"), "just a text"],
    [() => ({ when: new Date(0) }), "outputs.n.when: Date is not JSON; use toISOString()"],
  ])("is refused with what the author's code says (%#)", async (validate, message) => {
    expect(await submit(agent({ prompt: "x", validate }), 1)).toEqual(rejected(message));
  });

  test("is refused with the issues of a schema library in words", async () => {
    const issues = [
      { path: ["items", 3, "na me"], message: "expected a text", code: "invalid_type" },
      { path: [], message: "unknown key" },
    ];
    const validate = (): never => {
      throw Object.assign(new Error(JSON.stringify(issues)), { name: "ZodError", issues });
    };
    expect(await submit(agent({ prompt: "x", validate }), 1)).toEqual(
      rejected('value.items[3]["na me"]: expected a text; value: unknown key'),
    );
  });

  test("is refused in words that are short, whatever the error is", async () => {
    const long = agent({
      prompt: "x",
      validate: () => {
        throw new Error("x".repeat(1_000_000));
      },
    });
    const outcome = await submit(long, 1);
    expect(outcome.kind === "rejected" ? outcome.message.length : 0).toBeLessThan(8_100);
    const odd = agent({
      prompt: "x",
      validate: () => {
        throw new Proxy(new Error("x"), {
          get: () => {
            throw new Error("trap");
          },
        });
      },
    });
    expect(await submit(odd, 1)).toMatchObject({ kind: "rejected" });
  });

  test("does not decide for a run whose files have changed", async () => {
    const changed = Object.assign(new Error("a.ts has changed"), { name: "SourceChangedError" });
    const validate = (): Promise<never> => Promise.reject(changed);
    expect(await submit(agent({ prompt: "x", validate }), 1)).toMatchObject({
      kind: "failed",
      error: { name: "SourceChangedError" },
    });
  });

  test.each<[NodeDefinition]>([
    [agent({ prompt: "x", expectedOutput: assistantMessage() })],
    [compute({ run: () => 1 })],
  ])("is refused where none is asked for (%#)", async (node) => {
    expect(await submit(node, 1)).toMatchObject({ kind: "rejected" });
  });
});

describe("a JSON Schema of a result", () => {
  const schema = {
    type: "object",
    required: ["notes"],
    properties: { notes: { type: "string" }, tags: { items: { enum: ["a", "b"] } } },
    additionalProperties: false,
  };

  test("refuses with everything that does not fit", async () => {
    expect(await submit(agent({ prompt: "x", schema }), { tags: ["c"], more: 1 })).toEqual(
      rejected(
        'value must have the property "notes"; value must not have the property "more"; value.tags[0] must be one of "a", "b"',
      ),
    );
    expect(await submit(agent({ prompt: "x", schema }), { notes: "" })).toEqual(
      accepted({ notes: "" }),
    );
  });

  test("comes before the author's code", async () => {
    const node = agent({ prompt: "x", schema, validate: () => expect.unreachable("not valid") });
    expect(await submit(node, {})).toEqual(rejected('value must have the property "notes"'));
  });

  test("may be of the draft that many tools write", async () => {
    const draft = { $schema: "http://json-schema.org/draft-07/schema#", items: [{ const: 1 }] };
    expect(await submit(agent({ prompt: "x", schema: draft }), [1])).toEqual(accepted([1]));
    expect(await submit(agent({ prompt: "x", schema: draft }), [2])).toEqual(
      rejected("value[0] must be 1"),
    );
  });

  test("may stand where its description would", async () => {
    const node = agent({ prompt: "x", expectedOutput: { type: "string" } as never });
    expect(await submit(node, 5)).toEqual(rejected("value must be string"));
  });

  test("with a pattern that never ends refuses the value and holds nothing up", async () => {
    const node = agent({ prompt: "x", schema: { pattern: "^(a+)+$" } });
    expect(await submit(node, `${"a".repeat(40)}!`)).toEqual(
      rejected("could not be checked against its schema within 2000 ms"),
    );
  });
});

describe("a Standard Schema of a result", () => {
  function schemaOf(validate: StandardSchema["~standard"]["validate"]): StandardSchema {
    return { "~standard": { version: 1, vendor: "test", validate } };
  }

  test("makes the output, now or later, and hands it to the author's code", async () => {
    const schema = schemaOf((value) => ({ value: { made: value } }));
    expect(await submit(agent({ prompt: "x", schema }), 1)).toEqual(accepted({ made: 1 }));
    const later = schemaOf(async (value) => ({ value: [value] }));
    const node = agent({ prompt: "x", schema: later, validate: (value) => [value] });
    expect(await submit(node, 1)).toEqual(accepted([[1]]));
  });

  test("refuses with its issues, of which not all are told when there are many", async () => {
    const issues = Array.from({ length: 30 }, (_, at) => ({ message: "no", path: [{ key: at }] }));
    const outcome = await submit(agent({ prompt: "x", schema: schemaOf(() => ({ issues })) }), 1);
    const message = outcome.kind === "rejected" ? outcome.message : "";
    expect(message).toMatch(/^value\[0\]: no; value\[1\]: no; .*; and 10 more$/);
  });

  test("that throws refuses the value", async () => {
    const schema = schemaOf(() => {
      throw new Error("cannot be read");
    });
    expect(await submit(agent({ prompt: "x", schema }), 1)).toEqual(rejected("cannot be read"));
  });
});

describe("a submitted choice", () => {
  const node = decision({ question: "?", choices: ["fix", "ship it", "wait"] });

  test("is taken by its exact name, with what was said besides", async () => {
    expect(await submit(node, { route: "ship it", why: "green" })).toEqual(
      accepted({ route: "ship it", why: "green" }),
    );
    expect(await submit(node, "fix")).toEqual(accepted({ route: "fix" }));
    const named = decision({ question: "?", choices: { a: "first" }, field: "verdict" });
    expect(await submit(named, { verdict: "a" })).toEqual(accepted({ verdict: "a" }));
  });

  test.each<[unknown, string]>([
    [{ route: "Fix" }, '"Fix"; did you mean "fix"?'],
    [{ route: "ship" }, '"ship"; did you mean "ship it"?'],
    [{ route: "stop everything" }, '"stop everything"'],
    [{ route: 1 }, "1"],
    [{}, "undefined"],
    [{ verdict: "fix" }, "undefined"],
    ["toString", '"toString"'],
    [["fix"], "undefined"],
    [null, "undefined"],
  ])("is refused by name, near as it may be: %j", async (value, given) => {
    expect(await submit(node, value)).toEqual(
      rejected(`value.route must be one of "fix", "ship it", "wait", not ${given}`),
    );
  });
});
