import type { ErrorDescription } from "./describe-error.ts";
import { RoutingError } from "./errors.ts";
import { edgeFrom } from "./graph.ts";
import type { Graph, SwitchEdge } from "./graph.ts";
import type { JsonValue } from "./json.ts";

/** How one visit of a node ended. `cancelled` belongs to the run and is never routed. */
export const OUTCOMES = ["ok", "failed", "timed_out", "cancelled"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The part of a node's result that an edge may look at. */
export interface Routable {
  readonly outcome: Outcome;
  readonly output?: JsonValue;
  readonly error?: Pick<ErrorDescription, "name">;
}

/** Where a run goes after a node: on to another node, or to its end with this outcome. */
export type Route =
  | { readonly kind: "to"; readonly to: string }
  | { readonly kind: "end"; readonly outcome: Outcome };

/**
 * Picks the way on. A node without an outgoing edge ends the run, and so does a
 * failure that no edge asks for. Throws a `RoutingError` when the node did its
 * work but its value leads nowhere.
 */
export function routeAfter(graph: Graph, path: string, result: Routable): Route {
  const edge = edgeFrom(graph, path);
  const end: Route = { kind: "end", outcome: result.outcome };
  if (edge === undefined) return end;
  if ("to" in edge) return result.outcome === "ok" ? { kind: "to", to: edge.to } : end;
  if (result.outcome !== "ok" && !edge.on.startsWith("$result.")) return end;

  const to = pick(edge, path, result);
  return to === undefined ? end : { kind: "to", to };
}

/** What a switch may ask for, taken apart once. */
export interface RoutePath {
  readonly source: "output" | "result";
  readonly members: readonly string[];
}

/** Reads the `on` of a switch, or says why it cannot be read. */
export function parseRoutePath(on: unknown): RoutePath | { readonly problem: string } {
  if (typeof on !== "string") return { problem: "must be a text such as $.field" };
  const [head, ...members] = on.split(".");
  if (members.length === 0 || members.some((member) => member === "")) return { problem: EXPECTED };
  if (head === "$" || head === "$output") return { source: "output", members };
  const known = head === "$result" && RESULT_PATHS.has(members.join("."));
  return known ? { source: "result", members } : { problem: EXPECTED };
}

const RESULT_PATHS: ReadonlySet<string> = new Set(["outcome", "error.name"]);
const EXPECTED = "must be $.field, $output.field, $result.outcome or $result.error.name";

/** `undefined` means that a failure is not asked for, which ends the run with that failure. */
function pick(edge: SwitchEdge, path: string, result: Routable): string | undefined {
  const value = valueAt(edge.on, result);
  if (!isScalar(value)) return pickWithoutValue(edge, path, { value, result });
  const found = edge.cases.find((candidate) => candidate.value === String(value));
  const to = found?.to ?? edge.default;
  if (to !== undefined || result.outcome !== "ok") return to;
  throw new RoutingError(
    path,
    `${edge.on} is ${shown(value)}, which is none of ${knownCases(edge)}`,
  );
}

/** A node that did not fail has no error name: only a default can stand for that. */
function pickWithoutValue(
  edge: SwitchEdge,
  path: string,
  { value, result }: { readonly value: unknown; readonly result: Routable },
): string | undefined {
  if (edge.on.startsWith("$result.")) {
    if (edge.default !== undefined || result.outcome !== "ok") return edge.default;
    throw new RoutingError(
      path,
      `${edge.on} is absent, because the node ended ok, and there is no default`,
    );
  }
  const rule = "must be a string, number or boolean";
  throw new RoutingError(
    path,
    `${edge.on} ${rule}, not ${shown(value)} (cases: ${knownCases(edge)})`,
  );
}

function valueAt(on: string, result: Routable): unknown {
  const path = parseRoutePath(on);
  if ("problem" in path) return undefined;
  let value: unknown = path.source === "output" ? result.output : result;
  for (const member of path.members) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, member))
      return undefined;
    value = (value as Record<string, unknown>)[member];
  }
  return value;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function knownCases(edge: SwitchEdge): string {
  return edge.cases.map(({ value }) => JSON.stringify(value)).join(", ") || "no case";
}

function shown(value: unknown): string {
  if (value === undefined) return "absent";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
