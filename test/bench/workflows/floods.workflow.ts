import { existsSync, writeSync } from "node:fs";
import { compute, defineWorkflow } from "pi-workflows";
import type { Marked } from "./parts/input.ts";
import { mark } from "./parts/mark.ts";

const LINES = `${"x".repeat(127)}\n`.repeat(512);
const STDOUT = 1;

interface Input extends Marked {
  /** It goes on until this file exists. */
  readonly enough: string;
}

/** A node that prints as fast as it can. */
export default defineWorkflow<Input>({
  name: "floods",
  input: (value) => value as Input,
  startAt: "flood",
  nodes: {
    flood: compute({
      run: ({ input }) => {
        mark(input.file, "from");
        while (!existsSync(input.enough)) writeSync(STDOUT, LINES);
      },
    }),
  },
});
