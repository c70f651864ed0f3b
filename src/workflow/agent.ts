import type { Context, UnknownOutputs } from "./context.ts";
import { brand } from "./node-options.ts";
import type { Branded, JsonSchema, NodeOptions, Stated } from "./node-options.ts";

/** Marks what `assistantMessage` made, also for another copy of this package. */
export const REPLY_BRAND: unique symbol = Symbol.for("pi-workflows.assistant-message");

/** What every step that a model works on may state. */
export interface ModelStepOptions<Input, Outputs> extends NodeOptions<Input, Outputs> {
  /** Tools the model may use in this step; absent means all, an empty list only `workflow`. */
  readonly allowedTools?: Stated<Input, Outputs, readonly string[]>;
  /** Model of the step in a run without a session: `provider/model`, or its parts. */
  readonly model?: string | ModelChoice;
}

export interface ModelChoice {
  readonly provider?: string;
  readonly model?: string;
  /** Further arguments for Pi. */
  readonly args?: readonly string[];
}

/** A step whose result the model submits, and that is accepted once it is valid. */
export interface AgentOptions<Input, Outputs, Output> extends ModelStepOptions<Input, Outputs> {
  /** What the model is asked. */
  readonly prompt: Stated<Input, Outputs, string>;
  /** What a valid result looks like, in words. */
  readonly expectedOutput?: Stated<Input, Outputs, string>;
  /** JSON Schema or Standard Schema that a result must fit. */
  readonly schema?: JsonSchema | StandardSchema<Output>;
  /**
   * Accepts a result by returning it, or what shall stand for it, and refuses it
   * by throwing: the model is told the message and submits again. Runs in a
   * worker, after `schema`.
   */
  validate?(value: unknown, ctx: Context<Input, Outputs>): Output | Promise<Output>;
}

/** A step whose output is the visible reply of one turn of the model. */
export interface ReplyOptions<Input, Outputs> extends ModelStepOptions<Input, Outputs> {
  readonly prompt: Stated<Input, Outputs, string>;
  readonly expectedOutput: AssistantMessage;
  readonly schema?: never;
  readonly validate?: never;
}

/** Made by `assistantMessage`. */
export interface AssistantMessage {
  readonly [REPLY_BRAND]: 1;
  /** Longest reply, in characters. */
  readonly maxChars?: number;
}

/** The part of a Standard Schema (version 1) that is used here; zod, valibot, arktype and others have it. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type AgentNode<
  Input = unknown,
  Outputs = UnknownOutputs,
  Output = unknown,
> = Branded<"agent"> & (AgentOptions<Input, Outputs, Output> | ReplyOptions<Input, Outputs>);

/** A step for a model. With `expectedOutput: assistantMessage()` its reply is the output. */
export function agent<Input = unknown, Outputs = UnknownOutputs>(
  options: ReplyOptions<Input, Outputs>,
): AgentNode<Input, Outputs, string>;
export function agent<Input = unknown, Outputs = UnknownOutputs, Output = unknown>(
  options: AgentOptions<Input, Outputs, Output>,
): AgentNode<Input, Outputs, Output>;
export function agent<Input, Outputs, Output>(
  options: AgentOptions<Input, Outputs, Output> | ReplyOptions<Input, Outputs>,
): AgentNode<Input, Outputs, Output> {
  return brand("agent", options);
}

/** Says that the visible reply of the model's turn is the output of the step. */
export function assistantMessage(options: { readonly maxChars?: number } = {}): AssistantMessage {
  return Object.freeze({ ...options, [REPLY_BRAND]: 1 as const });
}

export function isAssistantMessage(value: unknown): value is AssistantMessage {
  return typeof value === "object" && value !== null && REPLY_BRAND in value;
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  // Some libraries make their schemas callable.
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return false;
  if (!("~standard" in value)) return false;
  const standard: unknown = value["~standard"];
  return (
    typeof standard === "object" &&
    standard !== null &&
    "validate" in standard &&
    typeof standard.validate === "function"
  );
}

/** The provider and the model of `provider/model`; a name without a slash is a model. */
export function modelChoice(model: string | ModelChoice): ModelChoice {
  if (typeof model !== "string") return model;
  const slash = model.indexOf("/");
  if (slash <= 0) return { model };
  return { provider: model.slice(0, slash), model: model.slice(slash + 1) };
}

/** The schema of a result, and in which field it was stated. */
export interface StatedSchema {
  readonly field: "schema" | "expectedOutput";
  readonly schema: JsonSchema | StandardSchema;
}

/** Older files state a schema in place of its description. */
export function statedSchema(node: AgentNode): StatedSchema | undefined {
  if (node.schema !== undefined) return { field: "schema", schema: node.schema };
  const { expectedOutput: stated } = node;
  if (stated === undefined || typeof stated === "string" || isAssistantMessage(stated))
    return undefined;
  if (isStandardSchema(stated)) return { field: "expectedOutput", schema: stated };
  // The types allow functions only; what an older file holds was checked at its definition.
  if (typeof stated === "function") return undefined;
  return { field: "expectedOutput", schema: stated as JsonSchema };
}
