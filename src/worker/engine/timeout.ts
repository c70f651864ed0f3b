import type { Context } from "../../workflow/context.ts";
import type { NodeKind } from "../../workflow/graph.ts";
import type { NodeDefinition } from "../../workflow/nodes.ts";

/** Work that takes longer without saying so is more often stuck than slow (authoring.md). */
const WORK_TIMEOUT_MS = 15 * 60_000;
/** A person may be asleep. */
const ANSWER_TIMEOUT_MS = 24 * 3_600_000;

/**
 * The node's own limit in milliseconds, `null` for none. Throws what the author's
 * function throws, and refuses what is no duration.
 */
export function timeoutOf(node: NodeDefinition, context: Context): number | null {
  return limitOf(
    node,
    typeof node.timeoutMs === "function" ? node.timeoutMs(context) : node.timeoutMs,
  );
}

/** The same for a limit that is stated in so many words. */
export function limitOf(node: NodeDefinition, stated: number | null | undefined): number | null {
  if (stated === undefined) return defaultTimeout(node);
  if (stated === null) return null;
  if (typeof stated === "number" && Number.isFinite(stated) && stated > 0) return stated;
  throw new TypeError(`timeoutMs must be a positive number of milliseconds or null`);
}

/** How long a worker may be busy with the node: a question is built as quickly as other work. */
export function workTimeout(node: NodeDefinition, timeoutMs: number | null): number | null {
  return PARKING.has(node.kind) ? WORK_TIMEOUT_MS : timeoutMs;
}

/** Kinds whose limit is about somebody else: the worker is gone while they wait. */
const PARKING: ReadonlySet<NodeKind> = new Set([
  "agent",
  "decision",
  "checkpoint",
  "human_decision",
  "wait",
]);

function defaultTimeout(node: NodeDefinition): number | null {
  if (node.kind === "wait") return null;
  // Its author has said what happens when nobody decides, and when.
  if (node.kind === "human_decision" && node.onTimeout !== undefined) return null;
  return PARKING.has(node.kind) ? ANSWER_TIMEOUT_MS : WORK_TIMEOUT_MS;
}
