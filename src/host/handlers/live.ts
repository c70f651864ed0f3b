/** What only memory knows of a run that executes now; handed in by whoever builds the host. */

export interface LoopBlockInfo {
  readonly node: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Processor time used since then. */
  readonly cpuMs: number;
}

export interface LiveRuns {
  /** Present while the loop of the run's worker stands still. */
  loopBlock(runId: string): LoopBlockInfo | undefined;
  /** Runs whose worker's loop stands still. */
  blockedRuns(): readonly string[];
  /** The newest output of a worker, alive or not; empty when there is none. */
  outputTail(workerId: string): string;
}
