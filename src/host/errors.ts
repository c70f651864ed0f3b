/**
 * The closed list of refusals. A refusal is an answer, not a fault: it is told to
 * the caller and changes nothing. docs/errors.md has a section for each reason.
 */
export type RejectionReason =
  | "CLAIM_LOST"
  | "STALE_REVISION"
  | "ILLEGAL_TRANSITION"
  | "IDEMPOTENCY_CONFLICT"
  | "RUN_NOT_FOUND"
  | "INTERACTION_NOT_FOUND"
  | "INTERACTION_CLOSED"
  | "WRONG_KIND"
  | "WORKFLOW_INVALID"
  | "WORKFLOW_NOT_FOUND"
  | "INPUT_INVALID"
  | "ANSWER_INVALID"
  | "SOURCE_CHANGED"
  | "EFFECT_AMBIGUOUS"
  | "EFFECT_NOT_FOUND"
  | "LIMIT_EXCEEDED"
  | "HOST_STOPPING"
  | "VERSION_SKEW"
  | "STORAGE_FULL"
  | "STORAGE_FAILED"
  | "WORKER_UNKNOWN"
  | "WORKER_FAILED"
  | "SUBMISSION_IN_PROGRESS"
  | "WRONG_SESSION"
  | "HUMAN_ONLY"
  | "SESSION_FENCED"
  | "REQUEST_INVALID";

/** One finding in a workflow file or in an answer. */
export interface WorkflowProblem {
  readonly message: string;
  readonly file?: string;
  /** Counted from 1. */
  readonly line?: number;
  /** Counted from 1. */
  readonly column?: number;
  /** Place in the definition or the answer, for example `nodes.build.retry`. */
  readonly place?: string;
}

/** What a refusal carries beside its reason and message. */
export interface RejectionDetails {
  readonly runId?: string;
  readonly revision?: number;
  readonly problems?: readonly WorkflowProblem[];
  /** Files, near names or ids, as the reason says. */
  readonly names?: readonly string[];
  /** The state of the run or interaction that forbids the change. */
  readonly state?: string;
  readonly limit?: number;
  readonly actual?: number;
}

/** A refusal with its reason. The message says what happened and what to do next. */
export class HostError extends Error {
  override readonly name: string = "HostError";
  readonly reason: RejectionReason;
  readonly details: RejectionDetails;

  constructor(reason: RejectionReason, message: string, details: RejectionDetails = {}) {
    super(message);
    this.reason = reason;
    this.details = details;
  }
}

/** In which way a claim is not the present one (state.md, "The four write doors"). */
export type ClaimLoss =
  | "missing_authority"
  | "expired"
  | "owner_changed"
  | "token_changed"
  | "generation_changed";

/**
 * A writer whose claim is gone. Losing a claim is a handover, not a failure: the
 * loser stops and writes nothing.
 */
export class ClaimLostError extends HostError {
  override readonly name = "ClaimLostError";
  readonly loss: ClaimLoss;

  constructor(loss: ClaimLoss, runId: string, generation: number) {
    super("CLAIM_LOST", `run ${runId}: generation ${generation} lost its claim (${loss})`, {
      runId,
    });
    this.loss = loss;
  }
}
