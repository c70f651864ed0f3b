import { checkChoiceEdges } from "./check-choice-edges.ts";
import { checkEdge, checkTarget } from "./check-edge.ts";
import { isWhole, report } from "./check-fields.ts";
import { checkNode } from "./check-node.ts";
import type { Problem } from "./errors.ts";
import { isFields, shown, textProblem, warnUnknownFields } from "./findings.ts";
import type { Fields, Findings } from "./findings.ts";
import { targetsOf } from "./graph.ts";
import type { Graph, GraphEdge, GraphNode, ResultForm } from "./graph.ts";

/** A definition as data, and everything there is to say about it. */
export interface Compilation {
  /** Absent when there are problems. */
  readonly graph?: Graph;
  /** What prevents a start. */
  readonly problems: readonly Problem[];
  /** What an author should know, but what prevents nothing. */
  readonly warnings: readonly Problem[];
}

/** How many visits a run may make when the definition does not say. */
export const MAX_STEPS = 100;

/** A run with more visits than this is a loop that nobody meant. */
const MAX_STEPS_LIMIT = 1_000_000;

const WORKFLOW_FIELDS = [
  "name",
  "title",
  "input",
  "startAt",
  "maxSteps",
  "nodes",
  "edges",
  "result",
];

/** Compiles whatever an author exported. Throws only when reading the definition throws. */
export function compile(definition: unknown): Compilation {
  const findings: Findings = { problems: [], warnings: [] };
  if (!isFields(definition)) {
    const message = `a workflow must be an object, not ${shown(definition)}`;
    return { problems: [{ place: "", message }], warnings: [] };
  }
  warnUnknownFields(findings, "", definition, WORKFLOW_FIELDS);
  checkHead(findings, definition);
  const nodes = compileNodes(findings, definition["nodes"]);
  const names = isFields(definition["nodes"]) ? Object.keys(definition["nodes"]) : [];
  const startAt = checkTarget(findings, "startAt", definition["startAt"], names);
  const edges = compileEdges(findings, definition["edges"], names);
  checkChoiceEdges(findings, definition["nodes"], definition["edges"]);
  if (startAt !== undefined) reportUnreachable(findings, { names, edges, startAt });

  if (findings.problems.length > 0 || startAt === undefined) return findings;
  const maxSteps = Number(definition["maxSteps"] ?? MAX_STEPS);
  const { result } = definition;
  const graph = {
    name: String(definition["name"]),
    startAt,
    maxSteps,
    nodes,
    edges,
    ...(isResultForm(result) ? { result } : {}),
  };
  return { graph, ...findings };
}

function checkHead(findings: Findings, definition: Fields): void {
  const { name, title, input, maxSteps, result } = definition;
  report(findings, "name", textProblem(name));
  if (title !== undefined && typeof title !== "function" && typeof title !== "string")
    report(findings, "title", `must be a text or a function, not ${shown(title)}`);
  if (input !== undefined && typeof input !== "function")
    report(findings, "input", `must be a function that takes the input, not ${shown(input)}`);
  if (maxSteps !== undefined && !isWhole(maxSteps, 1, MAX_STEPS_LIMIT))
    report(
      findings,
      "maxSteps",
      `must be a whole number from 1 to ${MAX_STEPS_LIMIT}, not ${shown(maxSteps)}`,
    );
  if (result !== undefined && !isResultForm(result))
    report(findings, "result", `must be "turn" or "card", not ${shown(result)}`);
}

function isResultForm(value: unknown): value is ResultForm {
  return value === "turn" || value === "card";
}

function compileNodes(findings: Findings, nodes: unknown): readonly GraphNode[] {
  if (!isFields(nodes)) {
    report(findings, "nodes", `must be an object of nodes by name, not ${shown(nodes)}`);
    return [];
  }
  const compiled: GraphNode[] = [];
  const firstBySight = new Map<string, string>();
  for (const [name, node] of Object.entries(nodes)) {
    const checked = checkNode(findings, name, node);
    if (checked !== undefined) compiled.push(checked);
    // Two spellings of one letter would be two nodes that nobody can tell apart.
    const sight = name.normalize("NFC");
    if (firstBySight.has(sight))
      report(findings, `nodes.${name}`, "another node has the same name in another Unicode form");
    firstBySight.set(sight, name);
  }
  if (compiled.length === 0 && Object.keys(nodes).length === 0)
    report(findings, "nodes", "must hold a node");
  return compiled;
}

function compileEdges(
  findings: Findings,
  edges: unknown,
  nodes: readonly string[],
): readonly GraphEdge[] {
  if (edges === undefined) return [];
  if (!Array.isArray(edges)) {
    report(findings, "edges", `must be an array, not ${shown(edges)}`);
    return [];
  }
  const compiled: GraphEdge[] = [];
  const firstFrom = new Map<unknown, string>();
  for (const [index, edge] of (edges as readonly unknown[]).entries()) {
    const place = `edges[${index}]`;
    const checked = checkEdge(findings, { place, edge, nodes });
    if (checked !== undefined) compiled.push(checked);
    const from = isFields(edge) ? edge["from"] : undefined;
    const first = firstFrom.get(from);
    if (typeof from === "string" && first !== undefined)
      report(
        findings,
        `${place}.from`,
        `a second edge leaves ${shown(from)}; the first is ${first}. Use a switch`,
      );
    else firstFrom.set(from, place);
  }
  return compiled;
}

function reportUnreachable(
  findings: Findings,
  {
    names,
    edges,
    startAt,
  }: {
    readonly names: readonly string[];
    readonly edges: readonly GraphEdge[];
    readonly startAt: string;
  },
): void {
  const reached = new Set([startAt]);
  // A set that grows while it is walked is walked to its end.
  for (const node of reached) {
    const leaving = edges.filter((edge) => edge.from === node);
    for (const to of leaving.flatMap(targetsOf)) reached.add(to);
  }
  for (const name of names)
    if (!reached.has(name))
      report(findings, `nodes.${name}`, `no edge leads here from ${shown(startAt)}`);
}
