import type { ErrorDescription } from "./describe-error.ts";
import type { Outcome } from "./route.ts";

/** Outputs by node; an author who knows more states it as the second type of `defineWorkflow`. */
export type UnknownOutputs = Readonly<Record<string, unknown>>;

/** What every function of a node is given. Frozen, and the same after a restart. */
export interface Context<Input = unknown, Outputs = UnknownOutputs> {
  readonly input: Input;
  /** Accepted outputs of the nodes whose last result is `ok`. */
  readonly outputs: Outputs;
  /** The last result of every node that was visited. */
  readonly results: Readonly<Record<string, NodeResult>>;
  readonly run: RunContext;
  /**
   * Aborts on timeout, pause, cancel, loss of the claim and the end of the host.
   * `signal.reason` says which: `TimeoutError`, `PausedError`, `CancelledError`,
   * `ClaimLostError` or `HostStoppingError`.
   */
  readonly signal: AbortSignal;
}

export interface RunContext {
  readonly id: string;
  readonly workflow: string;
  /** Absolute path of the directory that the run works in. */
  readonly projectDir: string;
  /** The n-th time the run enters this node, counted from 1. */
  readonly visit: number;
  /** The n-th try of this visit, counted from 1. */
  readonly attempt: number;
}

export interface NodeResult {
  readonly outcome: Outcome;
  readonly output?: unknown;
  readonly error?: ErrorDescription;
  readonly attempt: number;
  /** ISO 8601 text in UTC. */
  readonly startedAt: string;
  /** ISO 8601 text in UTC. */
  readonly finishedAt: string;
}

/** What an action is given: its effect, and a way to tell how far it is. */
export interface ActionContext<Input = unknown, Outputs = UnknownOutputs> extends Context<
  Input,
  Outputs
> {
  readonly effect: EffectContext;
  /**
   * Tells what is going on. Only the newest update is kept, so it costs little;
   * a text is shown as it is, everything else as JSON.
   */
  readonly publishUpdate: (update: unknown) => void;
}

export interface EffectContext {
  /** Stable over restarts and retries of one visit: hand it to the outside system. */
  readonly key: string;
  readonly type: string;
}
