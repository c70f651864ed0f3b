import type {
  AttemptRecord,
  ClaimRecord,
  CommandRecord,
  EffectAttemptRecord,
  EffectRecord,
  EventRecord,
  GraphRecord,
  HostEpochRecord,
  ProgressRecord,
  RunRecord,
  SourceRecord,
  SourceWithContent,
  TimerRecord,
  ValueRef,
  WorkerRecord,
} from "../records.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import type { SessionReader, SessionWriter } from "./session-tables.ts";
import type { RunStatus } from "../lifecycle/run.ts";
import type { EffectStatus } from "../lifecycle/effect.ts";

/**
 * The statements of every table, reading. Each method is one prepared statement,
 * or a page of one; none keeps an iterator open.
 */
export interface Reader extends SessionReader {
  readonly runs: {
    get(runId: string): RunRecord | undefined;
    /** Ids that begin with the prefix, at most `limit`. */
    idsByPrefix(prefix: string, limit: number): string[];
    idsBySuffix(suffix: string, limit: number): string[];
    graph(runId: string): GraphRecord;
    /** Newest first; `before` is a position. */
    page(filter: RunFilter): RunRecord[];
    countByStatus(): { status: RunStatus; count: number }[];
    /** Due queued runs in queue order: priority, available_at, position; no validations. */
    queued(now: number, limit: number): RunRecord[];
    /** Queued runs whose submission is to be validated, oldest first. */
    queuedValidations(limit: number): RunRecord[];
    /** The same without the runs of these projects. */
    queuedElsewhere(now: number, projectDirs: readonly string[], limit: number): RunRecord[];
    /** When the next queued run that is not yet due becomes so. */
    nextAvailableAt(now: number): number | undefined;
    withStatus(status: RunStatus, afterPosition: number, limit: number): RunRecord[];
    /** Whether any run is queued, starting or running. */
    hasActive(): boolean;
    /** Terminal runs that ended before the instant, oldest first. */
    finishedBefore(instant: number, limit: number): RunRecord[];
    lastPosition(): number;
    /** Runs of a session that have not ended, oldest first. */
    openOfSession(sessionId: string, limit: number): RunRecord[];
    /** The run of a session that ended last. */
    lastEndedOfSession(sessionId: string): RunRecord | undefined;
    /** Ended runs of sessions whose end is not told there, in order of their ends. */
    endedUntold(limit: number): RunRecord[];
    /** The newest run that a session started from a file with an input since an instant. */
    startedBySession(started: StartedBySession): RunRecord | undefined;
  };
  readonly sources: { ofRun(runId: string): SourceRecord[] };
  readonly attempts: {
    get(attemptId: string): AttemptRecord | undefined;
    open(runId: string): AttemptRecord | undefined;
    newest(runId: string): AttemptRecord | undefined;
    /** The newest, oldest of them first. */
    lastOfRun(runId: string, limit: number): AttemptRecord[];
    ofVisit(runId: string, node: string, visit: number): AttemptRecord[];
    /** The newest closed attempt (ok, failed, timed_out, cancelled) of each node. */
    newestClosedPerNode(runId: string): AttemptRecord[];
    /** The newest ok attempt of a node. */
    newestOk(runId: string, node: string): AttemptRecord | undefined;
    maxVisit(runId: string, node: string): number;
    countOpen(runId: string): number;
  };
  readonly claims: {
    open(runId: string): ClaimRecord | undefined;
    get(runId: string, generation: number): ClaimRecord | undefined;
    /** Open claims whose expiry is at or before the lease time, of this epoch. */
    expired(epoch: number, leaseNow: number): ClaimRecord[];
    allOpen(): ClaimRecord[];
  };
  readonly workers: {
    get(workerId: string): WorkerRecord | undefined;
    newest(runId: string): WorkerRecord | undefined;
    ofRun(runId: string): WorkerRecord[];
    live(): WorkerRecord[];
  };
  readonly interactions: {
    get(interactionId: string): InteractionRecord | undefined;
    open(runId: string): InteractionRecord | undefined;
    ofAttempt(attemptId: string): InteractionRecord | undefined;
    idsByPrefix(prefix: string, limit: number): string[];
    idsBySuffix(suffix: string, limit: number): string[];
    /** Oldest first, by id, after the given id. */
    page(filter: InteractionFilter): InteractionRecord[];
    countPending(): number;
    /** Open ones of the session's runs, oldest first. */
    openOfSession(sessionId: string, limit: number): InteractionRecord[];
    /** Pending ones whose deadline is at or before the instant and whose run is waiting. */
    due(now: number, limit: number): InteractionRecord[];
    nextDeadline(): number | undefined;
  };
  readonly timers: {
    open(runId: string): TimerRecord | undefined;
    ofAttempt(attemptId: string): TimerRecord | undefined;
    /** Pending ones of waiting runs that are due. */
    due(now: number, limit: number): TimerRecord[];
    nextDue(): number | undefined;
  };
  readonly effects: {
    get(effectId: string): EffectRecord | undefined;
    byKey(key: string): EffectRecord | undefined;
    idsByPrefix(prefix: string, limit: number): string[];
    idsBySuffix(suffix: string, limit: number): string[];
    ofRun(runId: string): EffectRecord[];
    unsettled(runId: string): EffectRecord[];
    page(filter: EffectFilter): EffectRecord[];
    countAmbiguous(): number;
    /** The same of one run. */
    ambiguousOfRun(runId: string): number;
    lastAttempt(effectId: string): EffectAttemptRecord | undefined;
    applications(effectId: string): number;
    /** Processes of applications that have not ended, of one run. */
    liveProcesses(runId: string): EffectAttemptRecord[];
    anyApplying(): boolean;
    applyingOfRun(runId: string): EffectRecord[];
  };
  readonly progress: { ofRun(runId: string): ProgressRecord[] };
  readonly events: {
    ofRun(runId: string, afterRevision: number, limit: number): EventRecord[];
    /** How many events a run has, and the highest of their revisions. */
    tally(runId: string): { count: number; last: number };
    /** Ids of runs changed after a position, with the newest position of each. */
    changedRuns(afterPosition: number, limit: number): { runId: string; position: number }[];
    lastPosition(): number;
  };
  readonly commands: { get(key: string): CommandRecord | undefined };
  readonly values: {
    /** JSON text of a stored value. Throws on a missing or damaged blob. */
    read(ref: ValueRef): string;
    /** The first characters of it, and whether that is all. */
    head(ref: ValueRef, chars: number): { text: string; whole: boolean };
    bytes(digest: string): Uint8Array | undefined;
  };
  readonly meta: { storeId(): string };
  readonly epochs: {
    get(epoch: number): HostEpochRecord | undefined;
    last(): HostEpochRecord | undefined;
  };
}

export interface RunFilter {
  readonly statuses?: readonly RunStatus[];
  readonly workflow?: string;
  readonly projectDir?: string;
  readonly before?: number;
  readonly limit: number;
}

export interface StartedBySession {
  readonly sessionId: string;
  readonly workflowPath: string;
  readonly inputDigest: string;
  readonly since: number;
}

export interface InteractionFilter {
  readonly runId?: string;
  readonly includeClosed: boolean;
  readonly after?: string;
  readonly limit: number;
}

export interface EffectFilter {
  readonly runId?: string;
  readonly statuses?: readonly EffectStatus[];
  readonly before?: string;
  readonly limit: number;
}

/** Columns to set; a key that is present with `undefined` clears its column. */
export type Change<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** The same with writing: handed only to the body of a door. */
export interface Tx extends Reader {
  readonly put: SessionWriter & {
    run(run: RunRecord, graph: GraphRecord): void;
    /** Sets the named columns of a run. Status changes come from the lifecycle only. */
    runChange(runId: string, change: Change<RunRecord>): void;
    graph(runId: string, graph: GraphRecord, digest: string): void;
    source(runId: string, source: SourceWithContent): void;
    dropSources(runId: string): void;
    attempt(attempt: AttemptRecord): void;
    attemptChange(attemptId: string, change: Change<AttemptRecord>): void;
    claim(claim: ClaimRecord): void;
    claimChange(runId: string, generation: number, change: Change<ClaimRecord>): void;
    worker(worker: WorkerRecord): void;
    workerChange(workerId: string, change: Change<WorkerRecord>): void;
    interaction(interaction: InteractionRecord): void;
    interactionChange(interactionId: string, change: Change<InteractionRecord>): void;
    timer(timer: TimerRecord): void;
    timerChange(timerId: string, change: Change<TimerRecord>): void;
    effect(effect: EffectRecord): void;
    effectChange(effectId: string, change: Change<EffectRecord>): void;
    effectAttempt(attempt: EffectAttemptRecord): void;
    effectAttemptChange(
      effectId: string,
      application: number,
      change: Change<EffectAttemptRecord>,
    ): void;
    progress(progress: ProgressRecord): void;
    /** Appends the event; revision is the run's next, position is given by the store. */
    event(event: Omit<EventRecord, "position">): void;
    command(command: CommandRecord): void;
    /** Stores a JSON text inline or as a blob and returns where it is. */
    value(json: string): ValueRef;
    epoch(epoch: HostEpochRecord): void;
    epochEnded(epoch: number, at: number): void;
    /** Deletes a terminal run with all that only it refers to; its command rows stay. */
    prunedRun(runId: string): void;
  };
  /** Runs after COMMIT, in order; never when the write was refused or undone. */
  afterCommit(run: () => void): void;
}
