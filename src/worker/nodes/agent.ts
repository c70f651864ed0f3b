import { isAssistantMessage, isStandardSchema, statedSchema } from "../../workflow/agent.ts";
import type { AgentNode, StandardSchema } from "../../workflow/agent.ts";
import type { Context } from "../../workflow/context.ts";
import { ask, schemaText, stated } from "./ask.ts";
import type { NodeExecutor } from "./executor.ts";
import { requireText, requireWords } from "./interaction.ts";
import type { InteractionRequest } from "./interaction.ts";
import { modelOptions, requireFits, stepSummary } from "./model-step.ts";

/** Asks a model for a result, or for a reply. */
export const agent: NodeExecutor<"agent"> = (node, context, tools) =>
  ask(tools, async () => {
    const path = tools.node;
    const prompt = requireWords(await stated(node.prompt, context), `nodes.${path}.prompt`);
    const base = {
      summary: stepSummary(node.statusDetail, prompt, path),
      requestJson: "null",
      prompt,
      ...(await modelOptions(node, context, path)),
    };
    const { expectedOutput } = node;
    if (isAssistantMessage(expectedOutput)) {
      requireFits(path, { prompt });
      const { maxChars } = expectedOutput;
      return {
        kind: "reply",
        ...base,
        ...(maxChars === undefined ? {} : { replyCharsMax: maxChars }),
      };
    }
    const expected = await expectation(node, context, path);
    requireFits(path, { prompt, ...expected.parts });
    return { kind: "agent", ...base, ...expected.fields };
  });

interface Expectation {
  readonly parts: { readonly expectedOutput: string; readonly schema?: string | undefined };
  readonly fields: Pick<InteractionRequest, "expectedOutput" | "schemaJson">;
}

async function expectation(node: AgentNode, context: Context, path: string): Promise<Expectation> {
  const schema = statedSchema(node);
  const schemaJson =
    schema === undefined ? undefined : shownSchema(schema.schema, `nodes.${path}.${schema.field}`);
  const expectedOutput =
    schema?.field === "expectedOutput" ? "" : await expectedText(node, context, path);
  return {
    parts: { expectedOutput, schema: schemaJson },
    fields: {
      ...(expectedOutput === "" ? {} : { expectedOutput }),
      ...(schemaJson === undefined ? {} : { schemaJson }),
    },
  };
}

async function expectedText(node: AgentNode, context: Context, path: string): Promise<string> {
  const { expectedOutput } = node;
  if (expectedOutput === undefined || isAssistantMessage(expectedOutput)) return "";
  return requireText(await stated(expectedOutput, context), `nodes.${path}.expectedOutput`);
}

/** What the model is shown; a Standard Schema can only be shown where it knows how to. */
function shownSchema(schema: unknown, place: string): string | undefined {
  if (!isStandardSchema(schema)) return schemaText(schema, place);
  try {
    const shown = jsonSchemaOf(schema);
    return shown === undefined ? undefined : schemaText(shown, place);
  } catch {
    // Some schemas (of dates, of transformations) have no JSON Schema; they are applied all the same.
    return undefined;
  }
}

const DIALECT = { target: "draft-2020-12" };

/** The extension of Standard Schema by which a schema tells its JSON Schema. */
function jsonSchemaOf(schema: StandardSchema): unknown {
  const standard: object = schema["~standard"];
  const jsonSchema: unknown = "jsonSchema" in standard ? standard.jsonSchema : undefined;
  if (typeof jsonSchema !== "object" || jsonSchema === null) return undefined;
  const { input } = jsonSchema as { readonly input?: unknown };
  if (typeof input !== "function") return undefined;
  return (input as (options: typeof DIALECT) => unknown).call(jsonSchema, DIALECT);
}
