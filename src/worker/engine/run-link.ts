import type { ErrorDescription } from "../../workflow/describe-error.ts";
import type { EffectGrant, EffectOutcome, Notification } from "../nodes/executor.ts";
import type { InteractionRequest } from "../nodes/interaction.ts";

/** The end of an attempt as it is proposed. */
export type AttemptEnd =
  | {
      readonly kind: "ok";
      readonly outputJson: string;
      readonly effect?: EffectOutcome;
      readonly notification?: Notification;
    }
  | {
      readonly kind: "failed" | "timed_out" | "unknown";
      readonly error: ErrorDescription;
      readonly effect?: EffectOutcome;
    };

/** The attempt that follows, or the end of the run. */
export type Follow =
  | {
      readonly kind: "next";
      readonly node: string;
      readonly retry: boolean;
      readonly timeoutMs?: number;
    }
  | { readonly kind: "end"; readonly outcome: "ok"; readonly resultJson: string }
  | {
      readonly kind: "end";
      readonly outcome: "failed" | "timed_out";
      readonly error: ErrorDescription;
    };

/** What the host said to a committed proposal. */
export interface Ack {
  readonly boundary: number;
  readonly attemptId: string;
  readonly attempt: number;
  readonly visit: number;
  /** The run is parked, paused, blocked or ended: exit. */
  readonly parked: boolean;
}

/** Names the attempt and the boundary that a proposal is about. */
export interface Place {
  readonly attemptId: string;
  readonly boundary: number;
}

/**
 * All that the engine ever asks of the host. Every method but the last two
 * resolves after the commit, in a later turn of the loop; each rejects with `ProposalRefused` when the host
 * found a rule broken, and never settles when the claim is lost.
 */
export interface RunLink {
  advance(place: Place, end: AttemptEnd | undefined, follow: Follow | undefined): Promise<Ack>;
  openInteraction(place: Place, request: LimitedRequest): Promise<Ack>;
  /** The submission is refused; the run waits for another one. */
  reject(place: Place, message: string): Promise<Ack>;
  openTimer(place: Place, dueAtMs: number, end: AttemptEnd | undefined): Promise<Ack>;
  beginEffect(place: Place, request: EffectRequest): Promise<EffectGrant>;
  effectProcess(place: Place, effectId: string, pid: number): void;
  progress(node: string, text: string): void;
}

export interface LimitedRequest extends InteractionRequest {
  /** Milliseconds until it expires; absent means never. */
  readonly timeoutMs?: number;
}

export interface EffectRequest {
  readonly key: string;
  readonly type: string;
  readonly policy: "idempotent" | "manual";
  readonly fingerprint: string;
  readonly observable: boolean;
}

/** The host found a rule broken. The attempt fails for it. */
export class ProposalRefused extends Error {
  override readonly name = "ProposalRefused";
}
