import type { FrameBody } from "./sim-worker.ts";

/** Where a worker is in its run. */
export interface Place {
  readonly runId: string;
  readonly node: string;
  readonly visit: number;
  readonly attempt: number;
  readonly attemptId: string;
  readonly boundary: bigint;
  /** Visits made so far. */
  readonly steps: number;
  /** Tries of this visit that failed. */
  readonly failures: number;
}

/** What is proposed, and where the run is once that is committed. */
export interface Proposed {
  readonly body: FrameBody;
  readonly next?: Pick<Place, "node" | "steps" | "failures">;
}
