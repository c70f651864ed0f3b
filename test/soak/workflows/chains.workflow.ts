import { compute, defineWorkflow } from "pi-workflows";
import { mix } from "./parts/mix.ts";

interface Input {
  readonly key: string;
  readonly seed: number;
  readonly steps: number;
}

/** As many transitions as the input says, each made from the one before, by code of several modules. */
export default defineWorkflow<Input>({
  name: "chains",
  title: ({ input }) => input.key,
  startAt: "step",
  maxSteps: 10_000,
  nodes: {
    step: compute({
      run: ({ input, outputs }) => {
        const { n, value } = (outputs["step"] ?? { n: 0, value: input.seed }) as {
          readonly n: number;
          readonly value: number;
        };
        return { n: n + 1, value: mix(value, n + 1), more: n + 1 < input.steps };
      },
    }),
    done: compute({
      run: async ({ outputs }) => {
        const { late } = await import("./parts/late.ts");
        return late((outputs["step"] as { readonly value: number }).value);
      },
    }),
  },
  edges: [{ from: "step", switch: { on: "$.more", cases: { true: "step", false: "done" } } }],
});
