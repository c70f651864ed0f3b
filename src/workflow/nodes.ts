import type { ActionContext, Context, UnknownOutputs } from "./context.ts";
import type { AgentNode } from "./agent.ts";
import type { DecisionNode } from "./decision.ts";
import type { EffectPolicy, NodeKind } from "./graph.ts";
import type { HumanDecisionNode } from "./human-decision.ts";
import { brand, NODE_BRAND } from "./node-options.ts";
import type { Branded, JsonSchema, Method, NodeOptions } from "./node-options.ts";
import type { NotifyNode } from "./notify.ts";

export const EFFECT_BRAND: unique symbol = Symbol.for("pi-workflows.effect");

export interface ComputeOptions<Input, Outputs, Output> extends NodeOptions<Input, Outputs> {
  /** Pure work: it may run again after a crash. */
  run(ctx: Context<Input, Outputs>): Output | Promise<Output>;
}

export interface ActionOptions<Input, Outputs, Output> extends NodeOptions<Input, Outputs> {
  readonly effect?: EffectRequest<Input, Outputs>;
  run(ctx: ActionContext<Input, Outputs>): Output | Promise<Output>;
}

export interface ShellOptions<Input, Outputs, Output> extends NodeOptions<Input, Outputs> {
  readonly effect?: EffectRequest<Input, Outputs>;
  exec(ctx: ActionContext<Input, Outputs>): ShellCommand | Promise<ShellCommand>;
  /** Makes the output of what the command printed; without it the output is the `ShellResult`. */
  parse?(result: ShellResult): Output | Promise<Output>;
  /**
   * Publishes lines of stdout as updates: all of them (`true`), or what the
   * function makes of a line, where `undefined` means nothing.
   */
  readonly updates?: boolean | ((line: string) => unknown);
}

export interface CheckpointOptions<Input, Outputs, Request> extends NodeOptions<Input, Outputs> {
  /** One line that says what is asked. */
  readonly summary: string | Method<Context<Input, Outputs>, string>;
  /** Builds, once, what the person who answers has to see. */
  run?(ctx: Context<Input, Outputs>): Request | Promise<Request>;
  /** JSON Schema that an answer must fit. */
  readonly schema?: JsonSchema;
}

/** Exactly one of the two. */
export interface WaitOptions<Input, Outputs> extends NodeOptions<Input, Outputs> {
  /** Milliseconds from when the node is entered. */
  readonly forMs?: number | Method<Context<Input, Outputs>, number>;
  /** A `Date`, an ISO 8601 text with a zone, or milliseconds since 1970; the past is due at once. */
  until?(ctx: Context<Input, Outputs>): Instant | Promise<Instant>;
}

export type Instant = Date | string | number;

export interface ShellCommand {
  readonly command: string;
  readonly args?: readonly string[];
  /** Relative to the run's project directory, which is also the default. */
  readonly cwd?: string;
  /** Added to the environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string | Uint8Array;
  /** Runs the command through a shell: the platform's (`true`) or this one. */
  readonly shell?: boolean | string;
  /** Milliseconds until the command is ended and the attempt times out. */
  readonly timeoutMs?: number | null;
  /** Without it, an exit code other than 0 fails the attempt. */
  readonly allowNonZeroExit?: boolean;
  /** Kept of stdout and of stderr each; 1,000,000 if not given. */
  readonly maxOutputChars?: number;
}

export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  /** `null` when a signal ended the command. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
}

/** A side effect under a managed record. Made by `idempotentEffect` and `manualEffect`. */
export interface EffectRequest<Input = unknown, Outputs = UnknownOutputs> {
  readonly [EFFECT_BRAND]: 1;
  readonly policy: EffectPolicy;
  readonly type: string;
  request?(ctx: Context<Input, Outputs>): unknown;
  observe?(ctx: ActionContext<Input, Outputs>): EffectObservation | Promise<EffectObservation>;
}

/** What a look at the outside system says about an effect; `undefined` means that it does not know. */
export type EffectObservation =
  | { readonly applied: true; readonly output?: unknown }
  | { readonly applied: false }
  | undefined;

export interface ManualEffectOptions<Input, Outputs> {
  /** What is about to be done; the effect is refused when it differs after a restart. */
  request?(ctx: Context<Input, Outputs>): unknown;
}

export interface IdempotentEffectOptions<Input, Outputs> extends ManualEffectOptions<
  Input,
  Outputs
> {
  /** Asks the outside system, by `ctx.effect.key`, whether the effect happened. */
  observe?(ctx: ActionContext<Input, Outputs>): EffectObservation | Promise<EffectObservation>;
}

export type ComputeNode<
  Input = unknown,
  Outputs = UnknownOutputs,
  Output = unknown,
> = Branded<"compute"> & ComputeOptions<Input, Outputs, Output>;
export type ActionNode<
  Input = unknown,
  Outputs = UnknownOutputs,
  Output = unknown,
> = Branded<"action"> & ActionOptions<Input, Outputs, Output>;
export type ShellNode<
  Input = unknown,
  Outputs = UnknownOutputs,
  Output = unknown,
> = Branded<"shell"> & ShellOptions<Input, Outputs, Output>;
export type CheckpointNode<
  Input = unknown,
  Outputs = UnknownOutputs,
  Request = unknown,
> = Branded<"checkpoint"> & CheckpointOptions<Input, Outputs, Request>;
export type WaitNode<Input = unknown, Outputs = UnknownOutputs> = Branded<"wait"> &
  WaitOptions<Input, Outputs>;

/** One definition type per kind; the tables of executors and known fields are made over it. */
export interface NodeDefinitions<Input = unknown, Outputs = UnknownOutputs> {
  readonly compute: ComputeNode<Input, Outputs>;
  readonly action: ActionNode<Input, Outputs>;
  readonly shell: ShellNode<Input, Outputs>;
  readonly agent: AgentNode<Input, Outputs>;
  readonly decision: DecisionNode<Input, Outputs>;
  readonly checkpoint: CheckpointNode<Input, Outputs>;
  readonly human_decision: HumanDecisionNode<Input, Outputs>;
  readonly notify: NotifyNode<Input, Outputs>;
  readonly wait: WaitNode<Input, Outputs>;
}

export type NodeDefinition<Input = unknown, Outputs = UnknownOutputs> = NodeDefinitions<
  Input,
  Outputs
>[NodeKind];

export function compute<Input = unknown, Outputs = UnknownOutputs, Output = unknown>(
  options: ComputeOptions<Input, Outputs, Output>,
): ComputeNode<Input, Outputs, Output> {
  return brand("compute", options);
}

/** A step with a side effect. With `exec` in place of `run` it is a `shell` node. */
export function action<Input = unknown, Outputs = UnknownOutputs, Output = unknown>(
  options: ActionOptions<Input, Outputs, Output>,
): ActionNode<Input, Outputs, Output>;
export function action<Input = unknown, Outputs = UnknownOutputs, Output = ShellResult>(
  options: ShellOptions<Input, Outputs, Output>,
): ShellNode<Input, Outputs, Output>;
export function action<Input, Outputs, Output>(
  options: ActionOptions<Input, Outputs, Output> | ShellOptions<Input, Outputs, Output>,
): ActionNode<Input, Outputs, Output> | ShellNode<Input, Outputs, Output> {
  return "exec" in options ? brand("shell", options) : brand("action", options);
}

export function shell<Input = unknown, Outputs = UnknownOutputs, Output = ShellResult>(
  options: ShellOptions<Input, Outputs, Output>,
): ShellNode<Input, Outputs, Output> {
  return brand("shell", options);
}

export function checkpoint<Input = unknown, Outputs = UnknownOutputs, Request = unknown>(
  options: CheckpointOptions<Input, Outputs, Request>,
): CheckpointNode<Input, Outputs, Request> {
  return brand("checkpoint", options);
}

export function wait<Input = unknown, Outputs = UnknownOutputs>(
  options: WaitOptions<Input, Outputs>,
): WaitNode<Input, Outputs> {
  return brand("wait", options);
}

/** An effect that the outside system recognises by its key, so that applying it twice is harmless. */
export function idempotentEffect<Input = unknown, Outputs = UnknownOutputs>(
  type: string,
  options: IdempotentEffectOptions<Input, Outputs> = {},
): EffectRequest<Input, Outputs> {
  return Object.freeze({ ...options, [EFFECT_BRAND]: 1 as const, policy: "idempotent", type });
}

/** An effect that only a person can judge once its outcome is unknown. */
export function manualEffect<Input = unknown, Outputs = UnknownOutputs>(
  type: string,
  options: ManualEffectOptions<Input, Outputs> = {},
): EffectRequest<Input, Outputs> {
  return Object.freeze({ ...options, [EFFECT_BRAND]: 1 as const, policy: "manual", type });
}

export function isNode(value: unknown): value is NodeDefinition {
  return typeof value === "object" && value !== null && NODE_BRAND in value;
}

export function isEffectRequest(value: unknown): value is EffectRequest {
  return typeof value === "object" && value !== null && EFFECT_BRAND in value;
}
