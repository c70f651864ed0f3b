/** The nouns that join a run to whoever answers it: requests, submissions, sessions, messages, turns. */
import type { InteractionStatus } from "./lifecycle/interaction.ts";
import type { MessageStatus } from "./lifecycle/message.ts";
import type { SessionStatus } from "./lifecycle/session.ts";
import type { SubmissionStatus } from "./lifecycle/submission.ts";
import type { TurnStatus } from "./lifecycle/turn.ts";
import type { Instant, ValueRef } from "./records.ts";

export type InteractionKind = "agent" | "reply" | "checkpoint" | "human_decision";

export interface InteractionRecord {
  readonly interactionId: string;
  readonly runId: string;
  readonly attemptId: string;
  readonly node: string;
  readonly visit: number;
  readonly kind: InteractionKind;
  readonly status: InteractionStatus;
  readonly summary: string;
  /** What the author built: of a checkpoint anything, of a decision a `DecisionRequest`. */
  readonly request?: ValueRef;
  readonly schema?: ValueRef;
  /** JSON of an `InteractionContract`; absent for a checkpoint. */
  readonly contract?: ValueRef;
  /** The answer that a policy gives at `deadlineAt` instead of expiring, as JSON text. */
  readonly defaultAnswer?: string;
  readonly answer?: ValueRef;
  readonly answerDigest?: string;
  readonly answeredBy?: string;
  readonly deadlineAt?: Instant;
  /** Why the newest submission was rejected. */
  readonly lastError?: string;
  readonly reminders: number;
  /** In a row. */
  readonly modelErrors: number;
  /** In a row, without a completed turn between them. */
  readonly lostTurns: number;
  readonly createdAt: Instant;
  readonly closedAt?: Instant;
}

/** What a request consists of beside its summary, request and schema. */
export interface InteractionContract {
  /** With `agent` and `reply`: what the model is asked. */
  readonly prompt?: string;
  /** With `agent`: what a valid result looks like, in words. */
  readonly expectedOutput?: string;
  /** The tools a model may use; absent means all. */
  readonly allowedTools?: readonly string[];
  /** With `reply`: longest reply, in characters. */
  readonly replyCharsMax?: number;
  /** With `human_decision`. */
  readonly audience?: string;
  readonly choices?: readonly ChoiceRecord[];
  /** Model of a headless step. */
  readonly model?: ModelRecord;
}

export interface ChoiceRecord {
  readonly id: string;
  readonly label: string;
  readonly input?: TextInputRecord;
}

export interface TextInputRecord {
  readonly name: string;
  readonly prompt: string;
  readonly minLength: number;
  readonly maxLength: number;
}

export interface ModelRecord {
  /** Empty means Pi's own choice, as for `model`. */
  readonly provider: string;
  readonly model: string;
  readonly args: readonly string[];
}

export type RejectionCause =
  | "refused"
  | "validation_failed"
  | "interrupted"
  | "expired"
  | "cancelled";

export interface SubmissionRecord {
  readonly submissionId: string;
  readonly runId: string;
  readonly interactionId: string;
  readonly attemptId: string;
  readonly status: SubmissionStatus;
  readonly value: ValueRef;
  readonly digest: string;
  readonly client: string;
  readonly sessionId?: string;
  /** Why it was rejected: `refused` is the author's code. */
  readonly reason?: RejectionCause;
  readonly error?: string;
  readonly receivedAt: Instant;
  readonly closedAt?: Instant;
}

export type HoldCause = "rate_limit" | "usage_limit";

export interface SessionRecord {
  readonly sessionId: string;
  readonly cwd: string;
  /** Empty for a session that is kept in memory only. */
  readonly sessionFile: string;
  /** The run whose own headless Pi this is. */
  readonly headlessRun?: string;
  readonly coordinatorEpoch: number;
  readonly status: SessionStatus;
  /** Steps wait until then for a provider. */
  readonly heldUntil?: Instant;
  readonly heldFor?: HoldCause;
  /** Limits hit in a row. */
  readonly heldCount: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export type MessageKind = "step" | "human_decision" | "notification" | "result";
export type MessageReason = "first" | "reminder" | "resumed" | "rate_limit" | "model_error";

export interface MessageRecord {
  readonly messageId: string;
  readonly sessionId: string;
  readonly runId: string;
  /** Of a step or decision. */
  readonly interactionId?: string;
  /** Order of creation within the store. */
  readonly position: number;
  readonly kind: MessageKind;
  readonly reason: MessageReason;
  readonly status: MessageStatus;
  /** Empty for a result. */
  readonly node: string;
  readonly summary: string;
  /** The whole text, as a JSON string. */
  readonly text: ValueRef;
  readonly startsTurn: boolean;
  /** Not offered before. */
  readonly availableAt?: Instant;
  /** Pi's id of the entry that holds it. */
  readonly entryId?: string;
  readonly createdAt: Instant;
  readonly deliveredAt?: Instant;
  readonly closedAt?: Instant;
}

export type TurnErrorKind = "rate_limit" | "usage_limit" | "other";

export interface TurnErrorRecord {
  readonly kind: TurnErrorKind;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** The model turn that a message started; one per message. */
export interface TurnRecord {
  readonly messageId: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly interactionId?: string;
  readonly status: TurnStatus;
  /** Why the session is asked to stop it. */
  readonly abortReason?: string;
  readonly error?: TurnErrorRecord;
  readonly openedAt: Instant;
  readonly closedAt?: Instant;
}
