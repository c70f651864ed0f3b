import type { Context } from "../../workflow/context.ts";
import type { ErrorDescription } from "../../workflow/describe-error.ts";
import type { EffectPolicy, NodeKind } from "../../workflow/graph.ts";
import type { NodeDefinitions } from "../../workflow/nodes.ts";
import type { InteractionRequest } from "./interaction.ts";

/** The host's answer to a request to act. */
export interface EffectGrant {
  readonly effectId: string;
  /** Stable over restarts and retries of one visit. */
  readonly key: string;
  /**
   * `apply`: act now. `observe`: an earlier application has an unknown outcome.
   * `stored`: it was applied before. `blocked`: end without a proposal.
   */
  readonly kind: "apply" | "observe" | "stored" | "blocked";
  /** With `stored`: the receipt. */
  readonly receiptJson?: string;
}

export interface EffectRequest {
  readonly policy: EffectPolicy;
  readonly type: string;
  /** SHA-256 of what is about to be done. */
  readonly fingerprint: string;
  readonly observable: boolean;
}

/** What became of an effect. */
export type EffectOutcome =
  | { readonly effectId: string; readonly kind: "applied"; readonly receiptJson: string }
  | {
      readonly effectId: string;
      readonly kind: "rejected" | "unknown";
      /** Why, in words. */
      readonly detail: string;
    };

/** A durable text for the session a run came from. */
export interface Notification {
  readonly text: string;
  /** The last word of a run, as opposed to news on the way. */
  readonly final: boolean;
}

/** What an executor may ask of the engine; nothing else reaches the host. */
export interface NodeTools {
  /** Path of the node. */
  readonly node: string;
  /** Aborts on timeout, pause, cancel, claim loss and the host's end; the reason's name says which. */
  readonly signal: AbortSignal;
  /** The node's limit in milliseconds, for information: the signal enforces it. */
  readonly deadlineMs: number | null;
  beginEffect(request: EffectRequest): Promise<EffectGrant>;
  /** Tells the process that applies an effect, right after it was started. */
  effectProcess(effectId: string, pid: number): void;
  publishUpdate(text: string): void;
  /** Copies what a command prints to the run's log. */
  print(stream: "stdout" | "stderr", text: string): void;
  note(point: "effect.performed"): void;
}

/** How an attempt ended, before the host was told. */
export type NodeOutcome =
  | {
      readonly kind: "ok";
      readonly outputJson: string;
      readonly effect?: EffectOutcome;
      readonly notification?: Notification;
    }
  | {
      readonly kind: "failed";
      readonly error: ErrorDescription;
      readonly retryable: boolean;
      readonly effect?: EffectOutcome;
    }
  | {
      readonly kind: "timed_out";
      readonly error: ErrorDescription;
      readonly effect?: EffectOutcome;
    }
  /** Nobody knows what became of the effect. */
  | { readonly kind: "unknown"; readonly error: ErrorDescription; readonly effect: EffectOutcome }
  | { readonly kind: "interaction"; readonly request: InteractionRequest }
  /** A submission is no valid result; the question stays open. */
  | { readonly kind: "rejected"; readonly message: string }
  | { readonly kind: "wait"; readonly dueAtMs: number }
  /** The worker ends without a proposal. */
  | { readonly kind: "stopped" };

/** Executes one attempt of a node. Rejects only when a request to the host was refused. */
export type NodeExecutor<Kind extends NodeKind> = (
  node: NodeDefinitions[Kind],
  context: Context,
  tools: NodeTools,
) => Promise<NodeOutcome>;
