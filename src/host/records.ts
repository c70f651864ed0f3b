import type { AttemptStatus } from "./lifecycle/attempt.ts";
import type { EffectStatus } from "./lifecycle/effect.ts";
import type { ModelRecord } from "./records-sessions.ts";
import type { BlockReason, RunStatus } from "./lifecycle/run.ts";

/** Milliseconds since 1970 by the wall clock. */
export type Instant = number;

/** A stored JSON value: its text, or the digest of the blob that holds it. */
export type ValueRef = { readonly json: string } | { readonly blob: string };

/** An error in words; `stack` is the author's code only. */
export interface FailureRecord {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

export type ActivationKind = "start" | "continue" | "answered" | "expired" | "verdict" | "validate";
export type EffectPolicy = "idempotent" | "manual";

export interface GraphNodeRecord {
  readonly path: string;
  readonly kind: string;
  readonly statusDetail?: string;
  readonly effect?: { readonly policy: EffectPolicy; readonly type: string };
  readonly retry?: {
    readonly maxAttempts: number;
    readonly backoffMs: number;
    readonly factor: number;
    readonly maxBackoffMs: number;
  };
}

export interface GraphEdgeRecord {
  readonly from: string;
  /** Set for a direct edge. */
  readonly to?: string;
  /** Set for a switch. */
  readonly on?: string;
  readonly cases?: readonly { readonly value: string | number | boolean; readonly to: string }[];
  readonly default?: string;
}

/** The compiled graph of a run: data only. */
export interface GraphRecord {
  readonly name: string;
  readonly startAt: string;
  readonly maxSteps: number;
  readonly nodes: readonly GraphNodeRecord[];
  readonly edges: readonly GraphEdgeRecord[];
  /** How the end is told in the origin session; `turn` by default. */
  readonly result?: "turn" | "card";
}

export interface RunRecord {
  readonly runId: string;
  /** Order of admission within the store. */
  readonly position: number;
  readonly workflow: string;
  readonly title: string;
  readonly workflowPath: string;
  readonly projectDir: string;
  readonly status: RunStatus;
  readonly pauseRequested: boolean;
  readonly blockReason?: BlockReason;
  /** Why the run is blocked, in words. */
  readonly detail?: string;
  readonly revision: number;
  readonly boundary: number;
  readonly generation: number;
  readonly priority: number;
  readonly availableAt: Instant;
  readonly node: string;
  readonly visit: number;
  /** Visits made so far, the present one included. */
  readonly steps: number;
  /** True when the newest attempt is closed and only its edge is to be taken. */
  readonly routing: boolean;
  /** What the next activation is told. */
  readonly activation: ActivationKind;
  readonly useRecorded: boolean;
  /** Interruptions in a row for want of evidence. */
  readonly noProgress: number;
  readonly graphDigest: string;
  readonly input: ValueRef;
  readonly inputDigest: string;
  readonly result?: ValueRef;
  readonly error?: FailureRecord;
  readonly changedFiles?: readonly string[];
  readonly restartedFrom?: string;
  readonly mode: RunMode;
  /** The Pi session that shows the run's steps. */
  readonly originSession?: string;
  /** Model of a headless run's steps. */
  readonly model?: ModelRecord;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly finishedAt?: Instant;
}

/** `session`: the session the run came from shows its steps; `headless`: the host starts Pi for them. */
export type RunMode = "headless" | "session";

export interface SourceRecord {
  readonly path: string;
  readonly kind: "file" | "package";
  /** SHA-256 in hexadecimal; files only. */
  readonly digest?: string;
  readonly size: number;
  readonly packageName?: string;
  readonly packageVersion?: string;
}

/** A source with its bytes, as a worker reports it. */
export interface SourceWithContent extends SourceRecord {
  readonly content?: Uint8Array;
}

export interface AttemptRecord {
  readonly attemptId: string;
  readonly runId: string;
  /** Number within the run, counted from 1. */
  readonly ordinal: number;
  readonly node: string;
  readonly visit: number;
  readonly attempt: number;
  readonly status: AttemptStatus;
  readonly generation: number;
  readonly timeoutMs?: number;
  readonly output?: ValueRef;
  readonly error?: FailureRecord;
  readonly startedAt: Instant;
  readonly finishedAt?: Instant;
}

export interface ClaimRecord {
  readonly runId: string;
  readonly generation: number;
  readonly epoch: number;
  readonly workerId: string;
  readonly tokenHash: string;
  /** Lease time, milliseconds of the epoch's own clock. */
  readonly acquired: number;
  readonly heartbeat: number;
  readonly expiry: number;
  readonly released: boolean;
  /** Number of the last accepted proposal, 0 before the first. */
  readonly lastNumber: number;
  /** The answer to it, as JSON. */
  readonly lastAnswer?: string;
}

/** What a writer shows at the claimed door. */
export interface ClaimProof {
  readonly runId: string;
  readonly workerId: string;
  readonly generation: number;
  readonly tokenHash: string;
}

export interface WorkerRecord {
  readonly workerId: string;
  readonly runId: string;
  readonly generation: number;
  readonly epoch: number;
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  readonly startedAt: Instant;
  readonly endedAt?: Instant;
  readonly exitCode?: number;
  readonly exitSignal?: string;
  readonly exitReason?: string;
}

export interface TimerRecord {
  readonly timerId: string;
  readonly runId: string;
  readonly attemptId: string;
  readonly kind: "wait" | "retry";
  readonly status: "pending" | "fired" | "cancelled";
  readonly dueAt: Instant;
  readonly createdAt: Instant;
  readonly closedAt?: Instant;
}

export interface EffectRecord {
  readonly effectId: string;
  readonly runId: string;
  readonly node: string;
  readonly visit: number;
  readonly type: string;
  readonly policy: EffectPolicy;
  readonly key: string;
  readonly fingerprint: string;
  readonly status: EffectStatus;
  readonly observable: boolean;
  /** True when an earlier application has an unknown outcome. */
  readonly unknownBefore: boolean;
  readonly receipt?: ValueRef;
  readonly detail?: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface EffectAttemptRecord {
  readonly effectId: string;
  readonly attemptId: string;
  readonly application: number;
  readonly pid?: number;
  readonly startTime?: string;
  readonly bootId?: string;
  readonly beganAt: Instant;
  readonly endedAt?: Instant;
  readonly outcome?: "applied" | "rejected" | "unknown";
}

export interface ProgressRecord {
  readonly runId: string;
  readonly node: string;
  readonly text: string;
  readonly at: Instant;
}

export interface EventRecord {
  readonly position: number;
  readonly runId: string;
  readonly revision: number;
  readonly kind: string;
  readonly at: Instant;
  readonly node?: string;
  /** Facts of the transition; never a payload, prompt or secret. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** The stored answer to a command. */
export interface CommandRecord {
  readonly key: string;
  readonly method: string;
  readonly fingerprint: string;
  readonly runId?: string;
  readonly revision: number;
  readonly committedAt: Instant;
  /** Further facts that a repeat is answered with, as JSON. */
  readonly extra?: string;
}

export interface HostEpochRecord {
  readonly epoch: number;
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  readonly version: string;
  readonly startedAt: Instant;
  readonly endedAt?: Instant;
}
