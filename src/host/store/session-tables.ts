import type {
  MessageRecord,
  SessionRecord,
  SubmissionRecord,
  TurnRecord,
} from "../records-sessions.ts";
import type { Change } from "./tx.ts";

/** The statements of the tables that join runs to sessions, reading. */
export interface SessionReader {
  readonly submissions: {
    get(submissionId: string): SubmissionRecord | undefined;
    /** The one of a run that is being validated. */
    validating(runId: string): SubmissionRecord | undefined;
    /** The newest of an interaction. */
    newest(interactionId: string): SubmissionRecord | undefined;
    /** The accepted one of an interaction. */
    accepted(interactionId: string): SubmissionRecord | undefined;
    /** All of a run, oldest first. */
    ofRun(runId: string, limit: number): SubmissionRecord[];
  };
  readonly sessions: {
    get(sessionId: string): SessionRecord | undefined;
    /** The session of a headless run's own Pi. */
    ofHeadlessRun(runId: string): SessionRecord | undefined;
    /** Sessions that were attached when their host ended, or are now. */
    attached(): SessionRecord[];
    /** Held sessions, the next one first. */
    nextHeldUntil(now: number): number | undefined;
  };
  readonly messages: {
    get(messageId: string): MessageRecord | undefined;
    /** The pending or offered one of an interaction. */
    openOfInteraction(interactionId: string): MessageRecord | undefined;
    newestOfInteraction(interactionId: string): MessageRecord | undefined;
    /** Pending and offered ones of a session, in order. */
    openOfSession(sessionId: string, limit: number): MessageRecord[];
    /** Delivered steps and decisions whose interaction is open, in order. */
    shownOfSession(sessionId: string, limit: number): MessageRecord[];
    /** Delivered ones of an interaction, in order. */
    shownOfInteraction(interactionId: string, limit: number): MessageRecord[];
    ofRun(runId: string, limit: number): MessageRecord[];
    /** The result message of a run. */
    resultOfRun(runId: string): MessageRecord | undefined;
    /** When the next pending message of a session becomes available. */
    nextAvailableAt(now: number): number | undefined;
    lastPosition(): number;
  };
  readonly turns: {
    get(messageId: string): TurnRecord | undefined;
    openOfSession(sessionId: string): TurnRecord | undefined;
    /** All of them, oldest first: a run that moved away may have left one. */
    allOpenOfSession(sessionId: string): TurnRecord[];
    openOfInteraction(interactionId: string): TurnRecord | undefined;
    /** Open ones of a run. */
    openOfRun(runId: string): TurnRecord[];
  };
}

/** The same, writing. */
export interface SessionWriter {
  submission(submission: SubmissionRecord): void;
  submissionChange(submissionId: string, change: Change<SubmissionRecord>): void;
  session(session: SessionRecord): void;
  sessionChange(sessionId: string, change: Change<SessionRecord>): void;
  message(message: MessageRecord): void;
  messageChange(messageId: string, change: Change<MessageRecord>): void;
  turn(turn: TurnRecord): void;
  turnChange(messageId: string, change: Change<TurnRecord>): void;
}
