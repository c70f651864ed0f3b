import { toJson } from "../../workflow/json.ts";
import { ask, schemaText } from "./ask.ts";
import type { NodeExecutor } from "./executor.ts";
import { oneLine } from "./interaction.ts";

/** Asks anybody. */
export const checkpoint: NodeExecutor<"checkpoint"> = (node, context, tools) =>
  ask(tools, async () => {
    const { summary, schema } = node;
    const line = typeof summary === "function" ? summary(context) : summary;
    const request = node.run === undefined ? null : await node.run(context);
    const place = `nodes.${tools.node}`;
    return {
      kind: "checkpoint",
      summary: oneLine(line, `${place}.summary`),
      requestJson: JSON.stringify(toJson(request, `${place}.request`)),
      ...(schema === undefined ? {} : { schemaJson: schemaText(schema, `${place}.schema`) }),
    };
  });
