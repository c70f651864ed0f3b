import type { Context, UnknownOutputs } from "./context.ts";
import type { NodeKind } from "./graph.ts";

/**
 * Marks what the builders made. `Symbol.for` gives two copies of this package
 * the same mark, so a helper that brings its own copy works too.
 */
export const NODE_BRAND: unique symbol = Symbol.for("pi-workflows.node");

// Functions are declared as methods here, because TypeScript then accepts a
// function that states a narrower context than the workflow gives: authors cast
// their input in one place and need no type arguments.

/** A function type with the leniency of a method, for fields that may also hold a plain value. */
export type Method<Argument, Result> = { method(argument: Argument): Result }["method"];

/** A value, or what makes it of what the run has produced so far. */
export type Stated<Input, Outputs, Value> =
  | Value
  | Method<Context<Input, Outputs>, Value | Promise<Value>>;

/** What every node may state. */
export interface NodeOptions<Input = unknown, Outputs = UnknownOutputs> {
  /** Short label for displays, at most 256 bytes. */
  readonly statusDetail?: string;
  /**
   * Milliseconds until an attempt times out, or `null` for no limit. Without it,
   * work has 15 minutes and a wait for a person or a session has 24 hours.
   */
  readonly timeoutMs?: number | null | Method<Context<Input, Outputs>, number | null>;
  /** Without it, a failed attempt is not repeated. */
  readonly retry?: RetryPolicy;
}

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly maxAttempts: number;
  /** Pause before the second attempt; 1,000 if not given. */
  readonly backoffMs?: number;
  /** By what the pause grows with each attempt; 2 if not given. */
  readonly factor?: number;
  /** Longest pause; 60,000 if not given. */
  readonly maxBackoffMs?: number;
}

export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

export interface Branded<Kind extends NodeKind> {
  readonly [NODE_BRAND]: 1;
  readonly kind: Kind;
}

export function brand<Kind extends NodeKind, Options extends object>(
  kind: Kind,
  options: Options,
): Branded<Kind> & Options {
  return Object.freeze({ ...options, [NODE_BRAND]: 1 as const, kind });
}
