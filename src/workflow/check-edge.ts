import { report } from "./check-fields.ts";
import { isFields, memberPlace, nearest, shown, warnUnknownFields } from "./findings.ts";
import type { Fields, Findings } from "./findings.ts";
import type { GraphCase, GraphEdge } from "./graph.ts";
import { OUTCOMES, parseRoutePath } from "./route.ts";

/** Checks one edge and returns its compiled form, or `undefined` when it has none. */
export function checkEdge(
  findings: Findings,
  {
    place,
    edge,
    nodes,
  }: { readonly place: string; readonly edge: unknown; readonly nodes: readonly string[] },
): GraphEdge | undefined {
  if (!isFields(edge)) {
    report(findings, place, `must be { from, to } or { from, switch }, not ${shown(edge)}`);
    return undefined;
  }
  warnUnknownFields(findings, place, edge, ["from", "to", "switch"]);
  const from = checkTarget(findings, `${place}.from`, edge["from"], nodes);
  const { to, switch: choice } = edge;
  if ((to === undefined) === (choice === undefined)) {
    report(findings, place, "must have exactly one of to and switch");
    return undefined;
  }
  if (choice === undefined) {
    const target = checkTarget(findings, `${place}.to`, to, nodes);
    return from === undefined || target === undefined ? undefined : { from, to: target };
  }
  const compiled = checkSwitch(findings, { place: `${place}.switch`, choice, nodes });
  return from === undefined || compiled === undefined ? undefined : { from, ...compiled };
}

interface CompiledSwitch {
  readonly on: string;
  readonly cases: readonly GraphCase[];
  readonly default?: string;
}

function checkSwitch(
  findings: Findings,
  {
    place,
    choice,
    nodes,
  }: { readonly place: string; readonly choice: unknown; readonly nodes: readonly string[] },
): CompiledSwitch | undefined {
  if (!isFields(choice)) {
    report(findings, place, `must be { on, cases, default? }, not ${shown(choice)}`);
    return undefined;
  }
  warnUnknownFields(findings, place, choice, ["on", "cases", "default"]);
  const before = findings.problems.length;
  const path = parseRoutePath(choice["on"]);
  if ("problem" in path)
    report(findings, `${place}.on`, `${path.problem}, not ${shown(choice["on"])}`);
  const cases = checkCases(findings, place, choice, nodes);
  const fallback =
    choice["default"] === undefined
      ? undefined
      : checkTarget(findings, `${place}.default`, choice["default"], nodes);
  if (findings.problems.length > before) return undefined;
  const on = String(choice["on"]);
  return { on, cases, ...(fallback === undefined ? {} : { default: fallback }) };
}

function checkCases(
  findings: Findings,
  place: string,
  choice: Fields,
  nodes: readonly string[],
): readonly GraphCase[] {
  const { cases = {}, on } = choice;
  if (!isFields(cases)) {
    report(findings, `${place}.cases`, `must map values to nodes, not ${shown(cases)}`);
    return [];
  }
  const compiled: GraphCase[] = [];
  for (const [value, target] of Object.entries(cases)) {
    const casePlace = memberPlace(`${place}.cases`, value);
    const to = checkTarget(findings, casePlace, target, nodes);
    if (to !== undefined) compiled.push({ value, to });
    if (on === "$result.outcome" && !OUTCOMES.some((outcome) => outcome === value))
      report(findings, casePlace, `is no outcome; those are ${OUTCOMES.join(", ")}`);
  }
  if (Object.keys(cases).length === 0 && choice["default"] === undefined)
    report(findings, place, "must have a case or a default");
  return compiled;
}

export function checkTarget(
  findings: Findings,
  place: string,
  target: unknown,
  nodes: readonly string[],
): string | undefined {
  if (typeof target !== "string") report(findings, place, `must name a node, not ${shown(target)}`);
  else if (nodes.includes(target)) return target;
  else {
    report(findings, place, `there is no node ${shown(target)}${nodeHint(target, nodes)}`);
  }
  return undefined;
}

const NODES_LISTED_MAX = 8;

function nodeHint(target: string, nodes: readonly string[]): string {
  const near = nearest(target, nodes);
  if (near !== undefined) return `; the nearest one is ${shown(near)}`;
  if (nodes.length === 0 || nodes.length > NODES_LISTED_MAX) return "";
  return `; the nodes are ${nodes.map(shown).join(", ")}`;
}
