import { agent, compute, defineWorkflow } from "pi-workflows";

/** One step of a model after the other, each with a check that costs nothing. */
export default defineWorkflow({
  name: "thinks",
  startAt: "think",
  result: "card",
  nodes: {
    think: agent({ prompt: "Think of a number.", validate: (value) => value }),
    again: compute({ run: () => ({ more: true }) }),
  },
  edges: [
    { from: "think", to: "again" },
    { from: "again", to: "think" },
  ],
});
