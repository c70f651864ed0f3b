/** Whether the next message goes into the session now. Asked and acted on without a pause between. */

export interface DeliveryFacts {
  /** Pi works on nothing: no run, no retry, no compaction. */
  readonly idle: boolean;
  /** The user has sent something that Pi is still preparing; it calls itself idle there. */
  readonly inputPending: boolean;
  /** The message stands on the active branch. */
  readonly onBranch: boolean;
  /** A message was handed to Pi and is not seen yet. */
  readonly latched: boolean;
  /** The end of the last turn is not classified yet. */
  readonly settling: boolean;
  readonly startsTurn: boolean;
  readonly mayWake: boolean;
}

export type Delivery = "send" | "delivered" | "busy" | "latched" | "may_not_wake";

export function decideDelivery(facts: DeliveryFacts): Delivery {
  if (facts.onBranch) return "delivered";
  if (facts.latched) return "latched";
  if (!facts.idle || facts.inputPending || facts.settling) return "busy";
  if (facts.startsTurn && !facts.mayWake) return "may_not_wake";
  return "send";
}
