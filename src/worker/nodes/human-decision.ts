import { humanAnswer } from "../../workflow/check-human.ts";
import type { Context } from "../../workflow/context.ts";
import { requireDuration } from "../../workflow/duration.ts";
import { isFields } from "../../workflow/findings.ts";
import { TEXT_CHARS_MAX_DEFAULT } from "../../workflow/human-decision.ts";
import type { HumanChoice, HumanDecisionNode } from "../../workflow/human-decision.ts";
import { toJson } from "../../workflow/json.ts";
import { ask, stated } from "./ask.ts";
import type { NodeExecutor } from "./executor.ts";
import { oneLine } from "./interaction.ts";
import type { ChoiceRequest, InteractionRequest } from "./interaction.ts";

/** Asks a person; what a person sees is built once and stored. */
export const humanDecision: NodeExecutor<"human_decision"> = (node, context, tools) =>
  ask(tools, async () => {
    const place = `nodes.${tools.node}`;
    const request: unknown = await node.request(context);
    if (!isFields(request))
      throw new TypeError(`${place}.request: must return { title, subject, presentation? }`);
    const { subject = null } = request;
    return {
      kind: "human_decision",
      summary: oneLine(request["title"], `${place}.request.title`),
      requestJson: JSON.stringify(toJson({ ...request, subject }, `${place}.request`)),
      choices: Object.entries(node.choices).map(choiceRequest),
      audience: node.audience,
      ...(await defaultAnswer(node, context, place)),
    };
  });

function choiceRequest([id, { label, input }]: [string, HumanChoice]): ChoiceRequest {
  if (input === undefined) return { id, label };
  const { name, prompt, minLength = 0, maxLength = TEXT_CHARS_MAX_DEFAULT } = input;
  return { id, label, input: { name, prompt, minLength, maxLength } };
}

async function defaultAnswer(
  { onTimeout, choices }: HumanDecisionNode,
  context: Context,
  place: string,
): Promise<Pick<InteractionRequest, "onTimeout">> {
  if (onTimeout === undefined) return {};
  const given = humanAnswer(choices, await stated<unknown>(onTimeout.response, context));
  if ("problem" in given) throw new TypeError(`${place}.onTimeout.response: ${given.problem}`);
  const afterMs = await stated(onTimeout.afterMs, context);
  return {
    onTimeout: {
      afterMs: requireDuration(afterMs, `${place}.onTimeout.afterMs`),
      responseJson: JSON.stringify(given.answer),
    },
  };
}
