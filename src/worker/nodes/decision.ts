import { DECISION_FIELD, listedChoices } from "../../workflow/decision.ts";
import type { DecisionNode, ListedChoice } from "../../workflow/decision.ts";
import { ask, stated } from "./ask.ts";
import type { NodeExecutor } from "./executor.ts";
import { requireWords } from "./interaction.ts";
import { modelOptions, requireFits, stepSummary } from "./model-step.ts";

/** Asks a model for one of the choices, as an agent step whose result is a closed list. */
export const decision: NodeExecutor<"decision"> = (node, context, tools) =>
  ask(tools, async () => {
    const path = tools.node;
    const prompt = requireWords(await stated(node.question, context), `nodes.${path}.question`);
    const expectedOutput = expectation(node);
    const schemaJson = JSON.stringify(schemaFor(node));
    requireFits(path, { prompt, expectedOutput, schema: schemaJson });
    return {
      kind: "agent",
      summary: stepSummary(node.statusDetail, prompt, path),
      requestJson: "null",
      prompt,
      expectedOutput,
      schemaJson,
      ...(await modelOptions(node, context, path)),
    };
  });

function expectation(node: DecisionNode): string {
  const { field = DECISION_FIELD } = node;
  const choices = listedChoices(node.choices) ?? [];
  const lines = choices.map(choiceLine);
  return [`An object whose field "${field}" is exactly one of:`, ...lines].join("\n");
}

function choiceLine({ id, meaning }: ListedChoice): string {
  const name = `- ${JSON.stringify(id)}`;
  return typeof meaning === "string" && meaning !== "" ? `${name}: ${meaning}` : name;
}

function schemaFor({ field = DECISION_FIELD, choices }: DecisionNode): object {
  const ids = (listedChoices(choices) ?? []).map(({ id }) => id);
  return { type: "object", required: [field], properties: { [field]: { enum: ids } } };
}
