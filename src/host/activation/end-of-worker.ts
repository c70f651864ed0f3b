import type { FailureRecord } from "../records.ts";
import type { WorkerExit } from "../supervisor/supervised-worker.ts";

/** What is known when a worker's process is gone. */
export interface EndFacts {
  /** The claim was given back or lost before: the run is no longer this worker's. */
  readonly released: boolean;
  /** Why the host itself ended the worker before its time, when that is no fault of the run. */
  readonly hostReason?: string | undefined;
  /** The run was attached: an attempt is open. */
  readonly attached: boolean;
  /** The worker's last words: author code ended the process. */
  readonly failure?: FailureRecord | undefined;
  /** Why the host ended the worker for something it did or failed to do. */
  readonly faultReason?: string | undefined;
  readonly exit: WorkerExit;
}

export type EndDecision =
  | { readonly kind: "nothing" }
  /** The attempt failed, for evidence. */
  | { readonly kind: "verdict"; readonly error: FailureRecord }
  /** The workflow's own code ended the process while it was loaded: trying again gives the same. */
  | { readonly kind: "block"; readonly detail: string }
  | { readonly kind: "interrupt"; readonly counted: boolean; readonly reason: string };

/** What a worker's end means for its run (state.md, "Run status"). */
export function decideEnd(facts: EndFacts): EndDecision {
  if (facts.released) return { kind: "nothing" };
  if (facts.hostReason !== undefined) {
    return { kind: "interrupt", counted: false, reason: facts.hostReason };
  }
  const error = evidenceOf(facts);
  if (error === undefined) {
    const reason = facts.faultReason ?? facts.exit.reason;
    return { kind: "interrupt", counted: true, reason };
  }
  if (facts.attached) return { kind: "verdict", error };
  return { kind: "block", detail: `the workflow cannot be loaded: ${error.message}` };
}

function evidenceOf({ failure, exit, faultReason }: EndFacts): FailureRecord | undefined {
  if (failure !== undefined) return failure;
  if (faultReason !== undefined || exit.cause !== "out_of_memory") return undefined;
  return {
    name: "OutOfMemory",
    message: "the node used up the worker's memory and its process was ended",
  };
}
