/** A workflow's graph as everything that is drawn needs it: plain nodes and plain arrows. */
import type { Graph, GraphEdge, GraphNode } from "../../gen/piworkflows/common/v1/graph_pb.ts";
import { safe } from "../../platform/text.ts";
import { valueJson } from "../../client/json-value.ts";

export interface DrawnNode {
  readonly path: string;
  /** Kind, effect and retries in a few words. */
  readonly kind: string;
  /** What became of it in a run; empty when there is no run. */
  readonly status: string;
}

export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  /** What takes it; empty for an edge that is always taken. */
  readonly label: string;
}

export interface Drawing {
  readonly name: string;
  /** The start first, then in an order in which arrows lead down as far as loops allow. */
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

/** `statuses` tells what became of nodes, by path. */
export function drawingOf(graph: Graph, statuses: ReadonlyMap<string, string>): Drawing {
  const edges = graph.edges.flatMap(arrows);
  const byPath = new Map(graph.nodes.map((node) => [node.path, node]));
  const nodes = downward(graph, edges)
    .map((path) => byPath.get(path))
    .filter((node) => node !== undefined)
    .map((node) => ({
      path: safe(node.path),
      kind: kindWords(node),
      status: statuses.get(node.path) ?? "",
    }));
  return { name: safe(graph.name), nodes, edges };
}

function arrows({ from, to, on, cases, defaultTo }: GraphEdge): readonly DrawnEdge[] {
  if (to !== "") return [{ from: safe(from), to: safe(to), label: "" }];
  const labelled = cases.map((one) => {
    const json = valueJson(one.value);
    const value = typeof json === "string" ? json : JSON.stringify(json);
    return { from: safe(from), to: safe(one.to), label: safe(`${on} = ${value}`) };
  });
  if (defaultTo === "") return labelled;
  return [...labelled, { from: safe(from), to: safe(defaultTo), label: "otherwise" }];
}

function kindWords({ kind, effect, retry, statusDetail }: GraphNode): string {
  const tries = retry === undefined || retry.maxAttempts < 2 ? "" : `${retry.maxAttempts} tries`;
  const type = effect === undefined ? "" : `${effect.policy} ${effect.type}`;
  return [kind, type, tries, statusDetail]
    .filter((part) => part !== "")
    .map(safe)
    .join(", ");
}

/** Reverse postorder from the start: without loops every arrow leads down. */
function downward(graph: Graph, edges: readonly DrawnEdge[]): readonly string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of edges) targets.set(from, [...(targets.get(from) ?? []), to]);
  const seen = new Set<string>();
  const order: string[] = [];
  // A stack of its own, because a generated graph may be deeper than ours.
  const stack: { readonly path: string; left: string[] }[] = [];
  const enter = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    stack.push({ path, left: [...(targets.get(path) ?? [])] });
  };
  enter(graph.startAt);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = top.left.pop();
    if (next !== undefined) {
      enter(next);
    } else {
      order.unshift(top.path);
      stack.pop();
    }
  }
  return [...order, ...graph.nodes.map(({ path }) => path).filter((path) => !seen.has(path))];
}
