/**
 * The compiled form of a definition: plain data without functions, so that it
 * can be stored with a run, compared with a later version and sent to the host.
 */
export interface Graph {
  readonly name: string;
  readonly startAt: string;
  readonly maxSteps: number;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Absent means `turn`. */
  readonly result?: ResultForm;
}

export type NodeKind =
  | "compute"
  | "action"
  | "shell"
  | "agent"
  | "decision"
  | "checkpoint"
  | "human_decision"
  | "notify"
  | "wait";

/** How the end of a run is told in its session: with a turn of the model, or as a card only. */
export type ResultForm = "turn" | "card";

export interface GraphNode {
  readonly path: string;
  readonly kind: NodeKind;
  readonly statusDetail?: string;
  readonly effect?: GraphEffect;
  readonly retry?: GraphRetry;
}

export interface GraphEffect {
  readonly policy: EffectPolicy;
  readonly type: string;
}

export type EffectPolicy = "idempotent" | "manual";

/** Attempts in all, the first included, and the pauses between them. */
export interface GraphRetry {
  readonly maxAttempts: number;
  readonly backoffMs: number;
  readonly factor: number;
  readonly maxBackoffMs: number;
}

export type GraphEdge = DirectEdge | SwitchEdge;

export interface DirectEdge {
  readonly from: string;
  readonly to: string;
}

export interface SwitchEdge {
  readonly from: string;
  readonly on: string;
  readonly cases: readonly GraphCase[];
  readonly default?: string;
}

export interface GraphCase {
  readonly value: string;
  readonly to: string;
}

export function nodeAt(graph: Graph, path: string): GraphNode | undefined {
  return graph.nodes.find((node) => node.path === path);
}

/** The one edge that leaves a node, or `undefined` where the run may end. */
export function edgeFrom(graph: Graph, path: string): GraphEdge | undefined {
  return graph.edges.find((edge) => edge.from === path);
}

export function targetsOf(edge: GraphEdge): readonly string[] {
  if ("to" in edge) return [edge.to];
  const cases = edge.cases.map(({ to }) => to);
  return edge.default === undefined ? cases : [...cases, edge.default];
}

/** How long to wait after the `failures`-th failed attempt of one visit, counted from 1. */
export function backoffDelay(retry: GraphRetry, failures: number): number {
  const delay = retry.backoffMs * retry.factor ** (failures - 1);
  return Math.min(retry.maxBackoffMs, Math.ceil(delay));
}
