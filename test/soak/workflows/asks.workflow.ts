import { checkpoint, compute, defineWorkflow, wait } from "pi-workflows";

interface Input {
  readonly key: string;
  readonly base: number;
  /** How long the run rests before and after its question. */
  readonly restMs: number;
}

/** A timer, a question, and a timer: most of its life no process works for such a run. */
export default defineWorkflow<Input>({
  name: "asks",
  title: ({ input }) => input.key,
  startAt: "before",
  nodes: {
    before: wait<Input>({ forMs: ({ input }) => input.restMs }),
    ask: checkpoint<Input>({
      summary: "What is to be added?",
      run: ({ input }) => ({ base: input.base }),
      schema: { type: "object", required: ["add"], properties: { add: { type: "integer" } } },
    }),
    after: wait<Input>({ forMs: ({ input }) => input.restMs }),
    sum: compute<Input>({
      run: ({ input, outputs }) => ({
        sum: input.base + (outputs["ask"] as { readonly add: number }).add,
      }),
    }),
  },
  edges: [
    { from: "before", to: "ask" },
    { from: "ask", to: "after" },
    { from: "after", to: "sum" },
  ],
});
