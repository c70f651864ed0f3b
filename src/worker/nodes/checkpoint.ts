import { toJson } from "../../workflow/json.ts";
import type { NodeExecutor } from "./executor.ts";
import { failedOrAborted } from "./outcome.ts";

/** A summary is one line of a list. */
const SUMMARY_MAX = 500;

/** Builds the question once; the run then waits for the answer without a process. */
export const checkpoint: NodeExecutor<"checkpoint"> = async (node, context, tools) => {
  try {
    const { summary, schema } = node;
    const line = typeof summary === "function" ? summary(context) : summary;
    const request = node.run === undefined ? null : await node.run(context);
    if (tools.signal.aborted) return failedOrAborted(tools, undefined);
    return {
      kind: "interaction",
      summary: oneLine(line, tools.node),
      requestJson: JSON.stringify(toJson(request, `nodes.${tools.node}.request`)),
      ...(schema === undefined
        ? {}
        : { schemaJson: JSON.stringify(toJson(schema, `nodes.${tools.node}.schema`)) }),
    };
  } catch (thrown) {
    return failedOrAborted(tools, thrown);
  }
};

function oneLine(summary: unknown, node: string): string {
  if (typeof summary !== "string")
    throw new TypeError(`nodes.${node}.summary: must be a text, not ${typeof summary}`);
  const line = summary
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
  if (line === "") throw new TypeError(`nodes.${node}.summary: must not be empty`);
  return line.length <= SUMMARY_MAX ? line : `${line.slice(0, SUMMARY_MAX).toWellFormed()}…`;
}
