import { report } from "./check-fields.ts";
import { DECISION_FIELD, listedChoices } from "./decision.ts";
import { isFields, memberPlace, nearest, shown } from "./findings.ts";
import type { Fields, Findings } from "./findings.ts";
import { HUMAN_FIELD } from "./human-decision.ts";
import { isNode } from "./nodes.ts";

/**
 * Checks that a switch over the choices of a decision has a case for each of
 * them and for nothing else: what the compiler says of `decisionEdge`, said to
 * those who write no types.
 */
export function checkChoiceEdges(findings: Findings, nodes: unknown, edges: unknown): void {
  if (!isFields(nodes) || !Array.isArray(edges)) return;
  for (const [index, edge] of (edges as readonly unknown[]).entries()) {
    if (!isFields(edge) || typeof edge["from"] !== "string" || !isFields(edge["switch"])) continue;
    const choices = Object.hasOwn(nodes, edge["from"])
      ? closedChoices(nodes[edge["from"]])
      : undefined;
    if (choices === undefined) continue;
    checkCases(findings, `edges[${index}].switch`, { ...choices, choice: edge["switch"] });
  }
}

interface ClosedChoices {
  readonly field: string;
  readonly ids: readonly string[];
}

/** What a decision can say, and where; `undefined` for other nodes and unsound ones. */
function closedChoices(node: unknown): ClosedChoices | undefined {
  if (!isNode(node)) return undefined;
  const fields: Fields = { ...node };
  if (node.kind === "human_decision")
    return isFields(fields["choices"])
      ? { field: HUMAN_FIELD, ids: Object.keys(fields["choices"]) }
      : undefined;
  const listed = node.kind === "decision" ? listedChoices(fields["choices"]) : undefined;
  if (listed === undefined) return undefined;
  const { field = DECISION_FIELD } = fields;
  return { field: String(field), ids: listed.map(({ id }) => String(id)) };
}

function checkCases(
  findings: Findings,
  place: string,
  { field, ids, choice }: ClosedChoices & { readonly choice: Fields },
): void {
  const { on, cases } = choice;
  const asked = typeof on === "string" ? /^\$(?:output)?\.([^.]+)$/.exec(on)?.[1] : undefined;
  if (asked === undefined || !isFields(cases)) return;
  if (asked === field) {
    reportUnknown(findings, `${place}.cases`, cases, ids);
    const left = ids.filter((id) => !Object.hasOwn(cases, id));
    if (left.length > 0 && choice["default"] === undefined)
      report(findings, `${place}.cases`, `has no case for ${left.map(shown).join(", ")}`);
  } else if (asked === DECISION_FIELD || asked === HUMAN_FIELD) {
    const message = `the choice is in ${shown(field)}, so this must be $.${field}`;
    report(findings, `${place}.on`, message);
  }
}

function reportUnknown(
  findings: Findings,
  place: string,
  cases: Fields,
  ids: readonly string[],
): void {
  for (const value of Object.keys(cases)) {
    if (ids.includes(value)) continue;
    const near = nearest(value, ids);
    const known = near === undefined ? ids : [near];
    const hint = near === undefined ? "those are" : "the nearest is";
    report(
      findings,
      memberPlace(place, value),
      `is no choice; ${hint} ${known.map(shown).join(", ")}`,
    );
  }
}
