/** What the rest of the host sees of a worker. */
import type {
  WorkRequest,
  WorkResponse,
} from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { StopReason } from "../../gen/piworkflows/worker/v1/answers_pb.ts";

/** What a worker is wanted for; a spare that has loaded the same is preferred. */
export interface WantedWorkflow {
  /** Absolute path of the workflow file. */
  readonly workflowPath: string;
  /** Absolute path of the directory its nodes work in. */
  readonly projectDir: string;
}

/** What is asked of the pool. */
export interface Wish extends WantedWorkflow {
  /** True for a worker that has loaded nothing yet: a preloaded one was out of date. */
  readonly fresh?: boolean;
}

/** The host's side of a worker's stream, handed over when the stream opens. */
export interface WorkerChannel {
  send(frame: WorkResponse): void;
  /** Resolves when the stream has taken what was sent, so that it need not pile up. */
  drained?(): Promise<void>;
  /** Ends the stream from the host's side; a repeat does nothing. */
  close(): void;
}

/**
 * - `starting`: it has not said hello.
 * - `spare`: it has everything loaded and has run nothing.
 * - `preloaded`: a spare that has loaded one workflow.
 * - `busy`: taken, for one activation or to look at a file.
 * - `ended`: its process is gone and its output is stored.
 */
export type WorkerState = "starting" | "spare" | "preloaded" | "busy" | "ended";

/** Who or what ended a worker. */
export type ExitCause =
  /** It ended by itself. */
  | "exit"
  /** A signal that is not ours. */
  | "signal"
  /** Its memory was full. */
  | "out_of_memory"
  /** `stop` was called before. */
  | "stopped"
  /** `kill` was called, or the pool had no use for it any more. */
  | "killed"
  /** It did not say hello in time, or said it wrongly. */
  | "handshake"
  /** It is of another version of the package than the host. */
  | "version"
  /** Its stream ended, and it did not. */
  | "disconnected"
  /** It sent what no worker sends. */
  | "protocol"
  /** There never was a process. */
  | "spawn";

export interface WorkerExit {
  /** Exit code, when it ended by itself. */
  readonly code: number | undefined;
  /** Signal, when one ended it. */
  readonly signal: string | undefined;
  readonly cause: ExitCause;
  /** Cause, code and signal in words. */
  readonly reason: string;
  /** Wall-clock milliseconds. */
  readonly at: number;
}

export interface SupervisedWorker {
  /** `wrk_…` */
  readonly id: string;
  /** Grows with every worker of every host of a state folder. */
  readonly epoch: number;
  /** SHA-256 of the secret it shows in its stream's header. */
  readonly secretHash: string;
  readonly pid: number;
  readonly startTime: string;
  readonly state: WorkerState;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
  /** The workflow it loads or has loaded before anybody needed it. */
  readonly preloadedFor: WantedWorkflow | undefined;
  /** When it began to load it, in wall-clock milliseconds. */
  readonly preloadedAt: number | undefined;
  /** The generation it is bound to, once it is. */
  readonly boundTo: { readonly runId: string; readonly generation: number } | undefined;
  /** How it ended, once it has. */
  readonly exit: WorkerExit | undefined;

  /** Does nothing once the stream is gone. */
  send(frame: WorkResponse): void;
  /** Resolves when the stream has taken what was sent, or is gone. */
  drained(): Promise<void>;
  /** One listener at a time; frames that came before it are handed over first, in order. */
  onFrame(listener: (frame: WorkRequest) => void): void;
  /** Called once, when the process is gone and its output is stored; also for late subscribers. */
  onEnd(listener: (exit: WorkerExit) => void): void;
  /** From now on its output, with what it wrote since it was taken, is kept on disk. */
  bind(runId: string, generation: number): void;
  /** The end of its output as text. */
  outputTail(bytes: number): string;
  /** Monotonic time of its last frame, of its start before the first. */
  lastFrameAt(): number;
  /** Lowest priority: its loop is blocked and others shall not feel it. */
  deprioritise(): void;
  /** Asks it to end; SIGTERM to its group after the grace, SIGKILL 2 s later. */
  stop(reason: StopReason, graceMs: number): void;
  /** SIGKILL to its group, now. */
  kill(): void;
}

/** No worker could be had; the message holds the end of the output of the one that failed. */
export class SpawnFailed extends Error {
  override readonly name = "SpawnFailed";
  /** `stopping` when the host takes nothing new, else what ended the process. */
  override readonly cause: ExitCause | "stopping";

  constructor(cause: ExitCause | "stopping", message: string) {
    super(message);
    this.cause = cause;
  }
}
