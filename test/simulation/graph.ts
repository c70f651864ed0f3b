/** The workflow of every simulated run: a hub, and a leaf for each kind of behaviour. */
import type { GraphNodeRecord, GraphRecord } from "../../src/host/records.ts";

const RETRY = { backoffMs: 1_000, factor: 2, maxBackoffMs: 60_000 };

const LEAVES: readonly GraphNodeRecord[] = [
  { path: "flaky", kind: "compute", retry: { maxAttempts: 3, ...RETRY } },
  { path: "ask", kind: "checkpoint" },
  { path: "think", kind: "agent" },
  { path: "choose", kind: "human_decision" },
  { path: "nap", kind: "wait" },
  { path: "deploy", kind: "shell", effect: { policy: "manual", type: "shell" } },
  {
    path: "redeploy",
    kind: "shell",
    effect: { policy: "manual", type: "shell" },
    retry: { maxAttempts: 2, ...RETRY },
  },
  { path: "once", kind: "action", effect: { policy: "idempotent", type: "mail" } },
  {
    path: "mail",
    kind: "action",
    effect: { policy: "idempotent", type: "mail" },
    retry: { maxAttempts: 2, ...RETRY },
  },
  { path: "tell", kind: "notify" },
];

export const LEAF_PATHS: readonly string[] = LEAVES.map((node) => node.path);

export const SIM_GRAPH: GraphRecord = {
  name: "sim",
  startAt: "hub",
  maxSteps: 40,
  nodes: [{ path: "hub", kind: "compute" }, ...LEAVES, { path: "end", kind: "compute" }],
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
