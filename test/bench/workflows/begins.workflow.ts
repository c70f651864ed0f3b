import { compute, defineWorkflow } from "pi-workflows";
import { marked } from "./parts/input.ts";
import type { Marked } from "./parts/input.ts";
import { mark } from "./parts/mark.ts";
import { BEGUN } from "./parts/names.ts";

/** Three local modules, and a first node that says when it begins. */
export default defineWorkflow<Marked>({
  name: "begins",
  input: marked,
  startAt: "first",
  nodes: {
    first: compute({ run: ({ input }) => mark(input.file, BEGUN) }),
    last: compute({ run: () => "done" }),
  },
  edges: [{ from: "first", to: "last" }],
});
