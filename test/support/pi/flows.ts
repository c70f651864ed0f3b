/** Small workflows for the tests with real Pi, as text of their files. */

/** One step of a model; the result is told by a card, so that no further turn follows. */
export const ONE_STEP = `
import { agent, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "one",
  startAt: "think",
  result: "card",
  nodes: {
    think: agent({
      prompt: "Think of a number.",
      validate(value: any) {
        if (typeof value !== "number") throw new Error("a number, please");
        return value;
      },
    }),
  },
  edges: [],
});
`;

export const QUESTION = `
import { checkpoint, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "question",
  startAt: "ask",
  result: "card",
  nodes: { ask: checkpoint({ summary: "Ship it?", schema: { type: "boolean" } }) },
  edges: [],
});
`;

/** A decision with a text; `afterMs` gives it a default. */
export function decision(afterMs?: number): string {
  const onTimeout =
    afterMs === undefined ? "" : `onTimeout: { afterMs: ${afterMs}, response: { choice: "yes" } },`;
  return `
import { choice, defineHumanChoices, defineWorkflow, humanDecision, textInput } from "pi-workflows";
const choices = defineHumanChoices({
  yes: choice({ label: "Publish" }),
  no: choice({ label: "Hold back", input: textInput({ name: "why", prompt: "Why not?" }) }),
});
export default defineWorkflow({
  name: "decision",
  startAt: "publish",
  result: "card",
  nodes: {
    publish: humanDecision({
      audience: "operator",
      choices,
      ${onTimeout}
      request: () => ({ title: "Publish?", subject: { tag: "v1" } }),
    }),
  },
  edges: [],
});
`;
}
