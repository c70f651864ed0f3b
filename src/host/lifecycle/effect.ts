import { defineLifecycle } from "./lifecycle.ts";

export type EffectStatus =
  | "pending"
  | "applying"
  | "applied"
  | "rejected"
  | "cancelled"
  | "ambiguous";

export type EffectEvent =
  | "begin"
  | "apply"
  | "reject"
  | "lose"
  | "reopen"
  | "cancel"
  | "resolve_applied"
  | "resolve_not_applied";

/**
 * A managed side effect (state.md, "Effects"). `lose` is an outcome nobody
 * knows: an idempotent effect goes back to `pending` under the same key; a manual
 * one, or one that is not tried again, is `ambiguous`, also when it had been
 * pending for another try that its run never made. `reopen` is another try of an
 * effect whose last outcome the graph has already taken in, or a person asking
 * for a retry.
 */
export const effectLifecycle = defineLifecycle<EffectStatus, EffectEvent>("effect", {
  pending: { begin: ["applying"], lose: ["ambiguous"], cancel: ["cancelled"] },
  applying: {
    apply: ["applied"],
    reject: ["rejected"],
    lose: ["pending", "ambiguous"],
  },
  applied: { reopen: ["pending"] },
  rejected: { reopen: ["pending"] },
  cancelled: {},
  ambiguous: {
    reopen: ["pending"],
    resolve_applied: ["applied"],
    resolve_not_applied: ["rejected"],
  },
});
