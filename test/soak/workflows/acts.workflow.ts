import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  action,
  compute,
  defineWorkflow,
  idempotentEffect,
  manualEffect,
  shell,
} from "pi-workflows";
import type { ActionContext } from "pi-workflows";

interface Input {
  readonly key: string;
  readonly node: "looks" | "manual" | "command";
  /** The outside world of this run: a line for each time an effect was applied. */
  readonly file: string;
  /** How long it takes before and after the line is written. */
  readonly lingerMs: number;
}

const NODES = ["looks", "manual", "command"] as const;

/** The outside system of the command recognises the key and does not do its work twice. */
const COMMAND =
  'sleep "$3"; grep -qxF -- "$1" "$2" 2> /dev/null || echo "$1" >> "$2"; sleep "$3"; echo done';

async function put({ input, effect, signal }: ActionContext<Input>): Promise<string> {
  // Once the line is there, this has happened and must be told: only before may it be given up.
  await sleep(input.lingerMs, undefined, { signal });
  appendFileSync(input.file, `${effect.key}\n`);
  await sleep(input.lingerMs);
  return "done";
}

/** One effect outside, by the node that the input names, which must have happened once at the end. */
export default defineWorkflow<Input>({
  name: "acts",
  title: ({ input }) => input.key,
  startAt: "choose",
  nodes: {
    choose: compute<Input>({ run: ({ input }) => ({ node: input.node }) }),
    looks: action<Input>({
      effect: idempotentEffect<Input>("put", {
        observe: ({ input, effect }) =>
          linesOf(input.file).includes(effect.key)
            ? { applied: true, output: "done" }
            : { applied: false },
      }),
      run: put,
    }),
    manual: action<Input>({ effect: manualEffect("put"), run: put }),
    command: shell<Input, Readonly<Record<string, unknown>>, string>({
      effect: idempotentEffect("put"),
      exec: ({ input, effect }) => ({
        command: "sh",
        args: ["-c", COMMAND, "sh", effect.key, input.file, String(input.lingerMs / 1000)],
      }),
      parse: ({ stdout }) => stdout.trim(),
    }),
    after: compute<Input>({ run: ({ input, outputs }) => outputs[input.node] }),
  },
  edges: [
    {
      from: "choose",
      switch: {
        on: "$.node",
        cases: Object.fromEntries(NODES.map((node) => [node, node])),
      },
    },
    ...NODES.map((from) => ({ from, to: "after" })),
  ],
});

function linesOf(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").trim().split("\n");
}
