import { describe, expect, test } from "vitest";
import type { NodeOutcome } from "../../../../src/worker/nodes/executor.ts";
import { execute } from "../../../../src/worker/nodes/index.ts";
import { choice, humanDecision, textInput } from "../../../../src/workflow/index.ts";
import type { NodeDefinition } from "../../../../src/workflow/index.ts";
import { testContext, testTools } from "../../../support/node-tools.ts";

const choices = {
  yes: choice({ label: "Yes" }),
  no: choice({ label: "No", input: textInput({ name: "why", prompt: "Why?", minLength: 1 }) }),
};
const base = {
  audience: "operator",
  choices,
  request: () => ({ title: "Publish?", subject: "x" }),
};

function run(node: NodeDefinition): Promise<NodeOutcome> {
  const tools = testTools();
  return execute(node, testContext(tools, { input: { n: 5 } }), tools);
}

describe("a decision of a person", () => {
  test("asks with all that the person sees, built once", async () => {
    const node = humanDecision({
      ...base,
      request: async ({ input }) => ({
        title: "Publish\nit?",
        subject: input,
        presentation: { format: "markdown" },
      }),
    });
    expect(await run(node)).toEqual({
      kind: "interaction",
      request: {
        kind: "human_decision",
        summary: "Publish it?",
        requestJson:
          '{"title":"Publish\\nit?","subject":{"n":5},"presentation":{"format":"markdown"}}',
        audience: "operator",
        choices: [
          { id: "yes", label: "Yes" },
          {
            id: "no",
            label: "No",
            input: { name: "why", prompt: "Why?", minLength: 1, maxLength: 10_000 },
          },
        ],
      },
    });
  });

  test("has a subject, even where it is missing", async () => {
    const node = humanDecision({ ...base, request: () => ({ title: "?", subject: undefined }) });
    expect(await run(node)).toMatchObject({
      request: { requestJson: '{"title":"?","subject":null}' },
    });
  });

  test.each<[object, object]>([
    [
      { afterMs: 5, response: "yes" },
      { afterMs: 5, responseJson: '{"choice":"yes"}' },
    ],
    [
      { afterMs: () => 1.5, response: async () => ({ choice: "no", why: "late" }) },
      { afterMs: 2, responseJson: '{"choice":"no","why":"late"}' },
    ],
  ])("may have an answer for when nobody decides: %j", async (onTimeout, sent) => {
    const node = humanDecision({ ...base, onTimeout: onTimeout as never });
    expect(await run(node)).toMatchObject({ request: { onTimeout: sent } });
  });

  test.each<[object, string]>([
    [
      { request: () => "Publish?" },
      "nodes.n.request: must return { title, subject, presentation? }",
    ],
    [{ request: () => ({ subject: 1 }) }, "nodes.n.request.title: must be a text, not undefined"],
    [{ request: () => ({ title: " " }) }, "nodes.n.request.title: must not be empty"],
    [
      { request: () => ({ title: "?", subject: new Map() }) },
      "nodes.n.request.subject: Map is not JSON; use Object.fromEntries()",
    ],
    [
      { onTimeout: { afterMs: 5, response: () => "maybe" } },
      'nodes.n.onTimeout.response: must be one of "yes", "no", not "maybe"',
    ],
    [
      { onTimeout: { afterMs: 5, response: () => ({ choice: "no", why: "" }) } },
      'nodes.n.onTimeout.response: "no" asks for why, which must have at least 1 characters',
    ],
    [
      { onTimeout: { afterMs: () => -1, response: "yes" } },
      "nodes.n.onTimeout.afterMs: must be more than 0 ms, not -1",
    ],
  ])("fails when it cannot ask: %o", async (options, message) => {
    const node = humanDecision({ ...base, ...options });
    expect(await run(node)).toMatchObject({ kind: "failed", error: { message } });
  });
});
