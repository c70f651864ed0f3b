import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { compute, defineWorkflow } from "pi-workflows";
import type { Marked } from "./parts/input.ts";
import { mark } from "./parts/mark.ts";

interface Input extends Marked {
  /** Counts that are not measured. */
  readonly from: number;
  /** Counts in all. */
  readonly to: number;
  /** Counts in between at which the time is noted. */
  readonly between?: readonly number[];
  /** The counts that are measured begin when this file exists. */
  readonly barrier?: string;
}

/** Transitions, one after the other. */
export default defineWorkflow<Input>({
  name: "counts",
  input: (value) => value as Input,
  startAt: "count",
  maxSteps: 1_000_000,
  nodes: {
    count: compute({
      run: async ({ input, run }) => {
        const { visit } = run;
        if (visit === input.from) {
          mark(input.file, "ready");
          while (input.barrier !== undefined && !existsSync(input.barrier)) await sleep(20);
          mark(input.file, "from");
        }
        if (input.between?.includes(visit) === true) mark(input.file, `at ${visit}`);
        if (visit === input.to) mark(input.file, "to");
        return { more: visit < input.to };
      },
    }),
    done: compute({ run: () => "done" }),
  },
  edges: [{ from: "count", switch: { on: "$.more", cases: { true: "count", false: "done" } } }],
});
