import type { Workflow } from "../../workflow/define-workflow.ts";
import { describeError } from "../../workflow/describe-error.ts";
import type { LoadProblem } from "./problems.ts";

/**
 * What is wrong with the schemas that answers are to fit. The host applies them
 * when somebody answers, which is too late to tell the author.
 */
export async function schemaProblems(workflow: Workflow, file: string): Promise<LoadProblem[]> {
  const stated = Object.entries(workflow.nodes).flatMap(([name, node]) =>
    node.kind === "checkpoint" && node.schema !== undefined ? [{ name, schema: node.schema }] : [],
  );
  if (stated.length === 0) return [];
  // Loaded by the few workflows that need it; with the host's options (answer-schema.ts).
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  return stated.flatMap(({ name, schema }) => {
    try {
      // The host gets it as JSON, so what JSON drops is dropped here too.
      ajv.compile(JSON.parse(JSON.stringify(schema)) as object | boolean);
      return [];
    } catch (thrown) {
      const message = `is no usable JSON Schema: ${describeError(thrown).message}`;
      return [{ message, file, place: `nodes.${name}.schema` }];
    }
  });
}
