import { describe, expect, test } from "vitest";
import { schemaProblems } from "../../../src/worker/definition/answer-schemas.ts";
import { checkpoint, defineWorkflow } from "../../../src/workflow/index.ts";
import type { JsonSchema } from "../../../src/workflow/index.ts";

function asking(schema: JsonSchema): ReturnType<typeof defineWorkflow> {
  return defineWorkflow({
    name: "asks",
    startAt: "ask",
    nodes: { ask: checkpoint({ summary: "?", schema }) },
  });
}

describe("the schema of an answer", () => {
  test.each<JsonSchema>([
    true,
    { type: "object", properties: { write: { type: "boolean" } }, required: ["write"] },
    { $defs: { way: { enum: ["a", "b"] } }, $ref: "#/$defs/way" },
  ])("is taken: %j", async (schema) => {
    expect(await schemaProblems(asking(schema), "/w.ts")).toEqual([]);
  });

  test.each<JsonSchema>([{ type: "text" }, { $ref: "#/nowhere" }, { pattern: "(" }])(
    "is refused before anybody is asked: %j",
    async (schema) => {
      const problems = await schemaProblems(asking(schema), "/w.ts");
      expect(problems).toMatchObject([{ file: "/w.ts", place: "nodes.ask.schema" }]);
      expect(problems[0]?.message).toContain("no usable JSON Schema");
    },
  );
});
