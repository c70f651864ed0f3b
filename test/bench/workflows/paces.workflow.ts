import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { compute, defineWorkflow } from "pi-workflows";
import type { Marked } from "./parts/input.ts";

interface Input extends Marked {
  readonly steps: number;
  /** What a node takes. */
  readonly pauseMs: number;
}

const transitions: number[] = [];
let ended = 0n;

/** Nodes that take a while, and how long it takes from the end of one to the begin of the next. */
export default defineWorkflow<Input>({
  name: "paces",
  input: (value) => value as Input,
  startAt: "step",
  maxSteps: 1_000_000,
  nodes: {
    step: compute({
      run: async ({ input, run }) => {
        if (run.visit > 1) transitions.push(Number(process.hrtime.bigint() - ended) / 1e6);
        await sleep(input.pauseMs);
        if (run.visit === input.steps) writeFileSync(input.file, JSON.stringify(transitions));
        ended = process.hrtime.bigint();
        return { more: run.visit < input.steps };
      },
    }),
    done: compute({ run: () => "done" }),
  },
  edges: [{ from: "step", switch: { on: "$.more", cases: { true: "step", false: "done" } } }],
});
