/** The workflow of every simulated run: a hub, and a leaf for each kind of behaviour. */
import type { GraphNodeRecord, GraphRecord } from "../../src/host/records.ts";
import { LEAVES } from "../support/leaves.ts";

/** What a decision asks of a model is what an agent asks. */
const ASKED = LEAVES.filter((node) => node.kind !== "decision");

export const LEAF_PATHS: readonly string[] = ASKED.map((node) => node.path);

export const SIM_GRAPH: GraphRecord = {
  name: "sim",
  startAt: "hub",
  maxSteps: 40,
  nodes: [{ path: "hub", kind: "compute" }, ...ASKED, { path: "end", kind: "compute" }],
  edges: [
    {
      from: "hub",
      on: "$.to",
      cases: LEAF_PATHS.map((to) => ({ value: to, to })),
      default: "end",
    },
    ...LEAF_PATHS.map((from) => ({ from, to: "hub" })),
  ],
};

export function nodeOf(path: string): GraphNodeRecord {
  const node = SIM_GRAPH.nodes.find((one) => one.path === path);
  if (node === undefined) throw new Error(`there is no node ${path}`);
  return node;
}
