import { checkpoint, compute, defineWorkflow } from "pi-workflows";
import { marked } from "./parts/input.ts";
import type { Marked } from "./parts/input.ts";
import { mark } from "./parts/mark.ts";

/** A question, and a node after the answer that says when it begins. */
export default defineWorkflow<Marked>({
  name: "asks",
  input: marked,
  startAt: "ask",
  nodes: {
    ask: checkpoint({ summary: "Go on?" }),
    next: compute({ run: ({ input }) => mark(input.file, "next") }),
  },
  edges: [{ from: "ask", to: "next" }],
});
