import { setTimeout as sleep } from "node:timers/promises";
import { compute, defineWorkflow } from "pi-workflows";
import { marked } from "./parts/input.ts";
import type { Marked } from "./parts/input.ts";
import { mark } from "./parts/mark.ts";

const NODES = Array.from({ length: 20 }, (_, index) => `node${index + 1}`);
const DEADLY = "node10";

/** Twenty nodes, in the tenth of which the process is killed from outside the first time. */
export default defineWorkflow<Marked>({
  name: "chains",
  input: marked,
  startAt: "node1",
  nodes: Object.fromEntries(
    NODES.map((name) => [
      name,
      compute<Marked>({
        run: async ({ input, run }) => {
          if (name !== DEADLY) return name;
          mark(input.file, `attempt ${run.attempt} in ${process.pid}`);
          if (run.attempt === 1) await sleep(60_000);
          return name;
        },
      }),
    ]),
  ),
  edges: NODES.slice(1).map((to, index) => ({ from: NODES[index] ?? "", to })),
});
