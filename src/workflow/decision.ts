import type { ModelStepOptions } from "./agent.ts";
import type { UnknownOutputs } from "./context.ts";
import { isFields } from "./findings.ts";
import { brand } from "./node-options.ts";
import type { Branded, Stated } from "./node-options.ts";
import type { SwitchEdgeDefinition } from "./edges.ts";

/** Names of the choices, or what each of them means by its name. */
export type DecisionChoices<Choice extends string = string> =
  | readonly Choice[]
  | Readonly<Record<Choice, string | { readonly description?: string }>>;

/** A model picks one of a closed list. */
export interface DecisionOptions<
  Input,
  Outputs,
  Choice extends string,
  Field extends string,
> extends ModelStepOptions<Input, Outputs> {
  readonly question: Stated<Input, Outputs, string>;
  readonly choices: DecisionChoices<Choice>;
  /** Field of the output that holds the choice; `route` if not given. */
  readonly field?: Field;
}

export const DECISION_FIELD = "route";

export type DecisionNode<
  Input = unknown,
  Outputs = UnknownOutputs,
  Choice extends string = string,
  Field extends string = string,
> = Branded<"decision"> & DecisionOptions<Input, Outputs, Choice, Field>;

export function decision<
  Input = unknown,
  Outputs = UnknownOutputs,
  const Choice extends string = string,
  const Field extends string = typeof DECISION_FIELD,
>(
  options: DecisionOptions<Input, Outputs, Choice, Field>,
): DecisionNode<Input, Outputs, Choice, Field> {
  return brand("decision", options);
}

/**
 * Leads on from a decision. Given its `choices`, the compiler demands a case for
 * each of them and refuses any other.
 */
export function decisionEdge<const Choice extends string = string>(options: {
  readonly from: string;
  readonly choices?: DecisionChoices<Choice>;
  readonly cases: Readonly<Record<NoInfer<Choice>, string>>;
  /** The `field` of the decision, where it has one. */
  readonly field?: string;
  readonly default?: string;
}): SwitchEdgeDefinition {
  const { from, cases, field = DECISION_FIELD } = options;
  const fallback = options.default === undefined ? {} : { default: options.default };
  return { from, switch: { on: `$.${field}`, cases, ...fallback } };
}

/** One choice, and what it means where the author said so. */
export interface ListedChoice {
  readonly id: unknown;
  readonly meaning?: unknown;
}

/** The choices as a list, whichever way they are written; `undefined` when they are no choices. */
export function listedChoices(choices: unknown): readonly ListedChoice[] | undefined {
  if (Array.isArray(choices)) return (choices as readonly unknown[]).map(listedEntry);
  if (!isFields(choices)) return undefined;
  return Object.entries(choices).map(([id, meaning]) => ({ id, meaning: meaningOf(meaning) }));
}

/** Older files also list objects in place of names. */
function listedEntry(entry: unknown): ListedChoice {
  if (!isFields(entry)) return { id: entry };
  return { id: entry["id"] ?? entry["value"], meaning: meaningOf(entry) };
}

function meaningOf(stated: unknown): unknown {
  return isFields(stated) ? (stated["description"] ?? stated["label"]) : stated;
}
