import { sha256Hex } from "../../platform/ids.ts";
import type { GraphNodeRecord, GraphRecord } from "../records.ts";

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
