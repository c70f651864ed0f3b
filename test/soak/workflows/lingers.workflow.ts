import { setTimeout as sleep } from "node:timers/promises";
import { compute, defineWorkflow } from "pi-workflows";

interface Input {
  readonly key: string;
  readonly ms: number;
  /** Characters of a value that is made, stored and read again. */
  readonly chars: number;
}

/** A long step with a large value before it: what is paused, cancelled and killed most often. */
export default defineWorkflow<Input, { readonly make: { readonly text: string } }>({
  name: "lingers",
  title: ({ input }) => input.key,
  startAt: "make",
  nodes: {
    make: compute<Input>({
      run: ({ input }) => ({ text: input.key.repeat(input.chars).slice(0, input.chars) }),
    }),
    linger: compute<Input>({
      statusDetail: "lingering",
      run: async ({ input, signal }) => {
        await sleep(input.ms, undefined, { signal });
        return "lingered";
      },
    }),
    tell: compute<Input>({
      run: ({ outputs }) => {
        const { text } = outputs["make"] as { readonly text: string };
        return { chars: text.length, linger: outputs["linger"], head: text.slice(0, 20) };
      },
    }),
  },
  edges: [
    { from: "make", to: "linger" },
    { from: "linger", to: "tell" },
  ],
});
