import type { Step } from "../operations/step.ts";

/** Every invariant that is checked. docs/errors.md and `doctor` name them so. */
export type Invariant =
  | "terminal_leaves_nothing_open"
  | "claim_means_active"
  | "claim_is_newest"
  | "claim_has_worker"
  | "active_has_position"
  | "idle_executes_nothing"
  | "attempt_at_position"
  | "routing_has_outcome"
  | "waiting_for_one"
  | "wait_has_attempt"
  | "waiting_attempt_has_cause"
  | "answer_is_output"
  | "validating_means_active"
  | "submission_is_answer"
  | "decision_is_a_choice"
  | "open_request_is_asked"
  | "open_message_has_request"
  | "end_is_told"
  | "applying_means_running"
  | "ambiguous_holds_run"
  | "pause_waits_for_effect"
  | "node_is_in_graph"
  | "events_without_gaps"
  | "blob_is_there";

/** One contradiction in the stored state. */
export interface Finding {
  readonly invariant: Invariant;
  readonly runId: string;
  /** What contradicts what. */
  readonly message: string;
  /** What a repair does; absent when the rows hold no proof of what is right. */
  readonly repair?: string;
}

/** A contradiction, with its mending where the rows prove what is right. */
export interface Contradiction {
  readonly invariant: Invariant;
  readonly message: string;
  readonly mend?: Mend;
}

export interface Mend {
  /** In words, what it does. */
  readonly what: string;
  /** Changes rows below the run; the event is appended by who calls it. */
  readonly apply: (step: Step) => void;
}

export function toFinding(runId: string, { invariant, message, mend }: Contradiction): Finding {
  return { invariant, runId, message, ...(mend === undefined ? {} : { repair: mend.what }) };
}
