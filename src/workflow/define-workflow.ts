import type { UnknownOutputs } from "./context.ts";
import { compile } from "./compile.ts";
import type { EdgeDefinition } from "./edges.ts";
import { WorkflowDefinitionError } from "./errors.ts";
import type { Problem } from "./errors.ts";
import type { Graph, ResultForm } from "./graph.ts";
import type { Method } from "./node-options.ts";
import type { NodeDefinition } from "./nodes.ts";

/** Marks what `defineWorkflow` made, also for another copy of this package. */
export const WORKFLOW_BRAND: unique symbol = Symbol.for("pi-workflows.workflow");

type Title = string | undefined | Promise<string | undefined>;

/** What an author writes. */
export interface WorkflowDefinition<Input = unknown, Outputs = UnknownOutputs> {
  readonly name: string;
  /** Names one run for people; the workflow's name if absent. */
  readonly title?: string | Method<{ readonly input: Input }, Title>;
  /** Checks and shapes the input. What it throws refuses the start, with that message. */
  input?(value: unknown): Input;
  readonly startAt: string;
  /** How many visits a run may make in all; 100 if not given. */
  readonly maxSteps?: number;
  readonly nodes: Readonly<Record<string, NodeDefinition<NoInfer<Input>, NoInfer<Outputs>>>>;
  readonly edges?: readonly EdgeDefinition[];
  /** Whether the model takes a turn on how the run ended, or a card is enough; `turn` if not given. */
  readonly result?: ResultForm;
}

/** A definition that was checked, with its compiled graph. */
export interface Workflow<Input = unknown, Outputs = UnknownOutputs> {
  readonly [WORKFLOW_BRAND]: 1;
  readonly name: string;
  readonly title?: string | Method<{ readonly input: Input }, Title>;
  input?(value: unknown): Input;
  readonly nodes: Readonly<Record<string, NodeDefinition<Input, Outputs>>>;
  readonly graph: Graph;
  readonly warnings: readonly Problem[];
}

/**
 * Checks a definition and returns the workflow, or throws one
 * `WorkflowDefinitionError` with every problem in it.
 *
 * The type of the input is that of `input`. Functions of nodes see it when it is
 * stated: `defineWorkflow<Input>({ … })`, or `<Input, Outputs>` to type
 * `ctx.outputs` as well.
 */
export function defineWorkflow<Input = unknown, Outputs = UnknownOutputs>(
  definition: WorkflowDefinition<Input, Outputs>,
): Workflow<Input, Outputs> {
  const { graph, problems, warnings } = compile(definition);
  if (graph === undefined)
    throw new WorkflowDefinitionError(nameOf(definition), problems, warnings);
  const { title, nodes } = definition;
  return Object.freeze({
    [WORKFLOW_BRAND]: 1 as const,
    name: graph.name,
    ...(title === undefined ? {} : { title }),
    ...(takesInput(definition) ? { input: (value: unknown) => definition.input(value) } : {}),
    nodes: Object.freeze({ ...nodes }),
    graph,
    warnings,
  });
}

function takesInput<Definition extends { input?: unknown }>(
  definition: Definition,
): definition is Definition & { input: NonNullable<Definition["input"]> } {
  return definition.input !== undefined;
}

export function isWorkflow(value: unknown): value is Workflow {
  return typeof value === "object" && value !== null && WORKFLOW_BRAND in value;
}

function nameOf(definition: { readonly name?: unknown } | undefined): string {
  const name = definition?.name;
  return typeof name === "string" && name !== "" ? JSON.stringify(name) : "without a name";
}
