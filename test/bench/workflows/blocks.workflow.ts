import { compute, defineWorkflow } from "pi-workflows";
import type { Marked } from "./parts/input.ts";
import { mark } from "./parts/mark.ts";

interface Input extends Marked {
  readonly blockMs: number;
}

/** A node that computes and lets nothing else have its process meanwhile. */
export default defineWorkflow<Input>({
  name: "blocks",
  input: (value) => value as Input,
  startAt: "block",
  nodes: {
    block: compute({
      run: ({ input }) => {
        mark(input.file, "from");
        const end = performance.now() + input.blockMs;
        while (performance.now() < end);
        mark(input.file, "to");
      },
    }),
  },
});
