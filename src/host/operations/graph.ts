import { sha256Hex } from "../../platform/ids.ts";
import { GRAPHS_KEPT_MAX } from "../limits.ts";
import type { GraphNodeRecord, GraphRecord, RunRecord } from "../records.ts";
import type { Reader } from "../store/tx.ts";

/** Parsed graphs by run and digest, the one used last at the end. */
const kept = new Map<string, GraphRecord>();

/**
 * The graph of a run. Each transition looks at it, and it changes only with its
 * digest, so the text is parsed once.
 */
export function runGraph(reader: Reader, { runId, graphDigest: digest }: RunRecord): GraphRecord {
  const key = `${runId} ${digest}`;
  const graph = kept.get(key) ?? reader.runs.graph(runId);
  kept.delete(key);
  kept.set(key, graph);
  const [oldest] = kept.keys();
  if (kept.size > GRAPHS_KEPT_MAX && oldest !== undefined) kept.delete(oldest);
  return graph;
}

/** Digest of a graph as the host stores it. */
export function graphDigest(graph: GraphRecord): string {
  return sha256Hex(JSON.stringify(graph));
}

export function nodeOf(graph: GraphRecord, path: string): GraphNodeRecord | undefined {
  return graph.nodes.find((node) => node.path === path);
}

/** Where the one edge that leaves a node may lead; empty when none leaves it. */
export function targetsFrom(graph: GraphRecord, path: string): readonly string[] {
  const edge = graph.edges.find((one) => one.from === path);
  const targets = [edge?.to, ...(edge?.cases ?? []).map((one) => one.to), edge?.default];
  return targets.filter((to) => to !== undefined);
}

/** True when a failed try of the node may be followed by another of the same visit. */
export function mayRetry(graph: GraphRecord, path: string, countedAttempts: number): boolean {
  return countedAttempts < (nodeOf(graph, path)?.retry?.maxAttempts ?? 1);
}
