import type { GraphNodeRecord } from "../../src/host/records.ts";

const RETRY = { backoffMs: 1_000, factor: 2, maxBackoffMs: 60_000 };

/** One node of each kind of behaviour; graphs of tests lead there and back. */
export const LEAVES: readonly GraphNodeRecord[] = [
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
  { path: "pick", kind: "decision" },
  { path: "tell", kind: "notify" },
];
