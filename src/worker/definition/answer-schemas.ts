import { compileSchema } from "../../platform/json-schema.ts";
import { isStandardSchema, statedSchema } from "../../workflow/agent.ts";
import type { Workflow } from "../../workflow/define-workflow.ts";
import { describeError } from "../../workflow/describe-error.ts";
import type { NodeDefinition } from "../../workflow/nodes.ts";
import type { LoadProblem } from "./problems.ts";
import { SCHEMA_LIMITS } from "../validation/limits.ts";

/**
 * What is wrong with the schemas that answers and submissions are to fit. They
 * are applied when somebody answers, which is too late to tell the author.
 */
export async function schemaProblems(workflow: Workflow, file: string): Promise<LoadProblem[]> {
  const found: LoadProblem[] = [];
  for (const [name, node] of Object.entries(workflow.nodes)) {
    const stated = jsonSchemaOf(node);
    if (stated === undefined) continue;
    try {
      await compileSchema(JSON.stringify(stated.schema), SCHEMA_LIMITS);
    } catch (thrown) {
      const message = `is no usable JSON Schema: ${describeError(thrown).message}`;
      found.push({ message, file, place: `nodes.${name}.${stated.field}` });
    }
  }
  return found;
}

interface JsonSchemaField {
  readonly field: string;
  readonly schema: unknown;
}

/** A Standard Schema is code, and sound by being there. */
function jsonSchemaOf(node: NodeDefinition): JsonSchemaField | undefined {
  if (node.kind === "agent") {
    const stated = statedSchema(node);
    return isStandardSchema(stated?.schema) ? undefined : stated;
  }
  if (node.kind !== "checkpoint" || node.schema === undefined) return undefined;
  return { field: "schema", schema: node.schema };
}
