import { compute, defineWorkflow, idempotentEffect, shell } from "pi-workflows";
import type { ShellResult } from "pi-workflows";

interface Input {
  readonly key: string;
  readonly lines: number;
}

const PRINT = 'n=0; while [ $n -lt "$2" ]; do n=$((n + 1)); echo "$1 line $n of $2"; done';

/** A command whose output is too large for a row, and a worker that prints beside it. */
export default defineWorkflow<Input>({
  name: "prints",
  title: ({ input }) => input.key,
  startAt: "print",
  nodes: {
    print: shell<Input>({
      effect: idempotentEffect("print"),
      exec: ({ input }) => ({
        command: "sh",
        args: ["-c", PRINT, "sh", input.key, String(input.lines)],
      }),
    }),
    count: compute({
      run: ({ input, outputs }) => {
        const { stdout } = outputs["print"] as ShellResult;
        const lines = stdout.trim().split("\n");
        // What a worker prints is kept beside the run, until the run is pruned.
        for (const line of lines) console.log(line);
        return { lines: lines.length, last: lines.at(-1), own: lines[0]?.startsWith(input.key) };
      },
    }),
  },
  edges: [{ from: "print", to: "count" }],
});
