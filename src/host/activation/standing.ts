import type { ClaimProof, FailureRecord, RunRecord } from "../records.ts";
import type { SupervisedWorker } from "../supervisor/supervised-worker.ts";
import type { OpenAttempt } from "./beginning.ts";

/** The process that applies an effect, in a group of its own. */
export interface CommandProcess {
  readonly pid: number;
  readonly startTime: string;
}

/** Author code ended the process, or the host would have to. */
export interface LastWords {
  readonly error: FailureRecord;
  /** The attempt that was open when it was said; absent before the run was attached. */
  readonly attemptId: string | undefined;
}

/** Why a worker lost its run that is not known to have done anything wrong. */
export const CLAIM_RAN_OUT = "did not run, and its claim ran out";

/** What is known of one activation so far; its parts change it in place. */
export interface Standing {
  /** The run as it was launched. */
  readonly run: RunRecord;
  readonly worker: SupervisedWorker;
  readonly proof: ClaimProof;
  /** A spare loaded the files before the run was launched: it may have seen older ones. */
  readonly mayBeStale: boolean;
  /** The attempt that is open or routed on; absent until the run is attached. */
  attempt: OpenAttempt | undefined;
  /** Attempts begun or routed on so far. */
  opened: number;
  /** The worker has proposed something: it had the workflow loaded as the run recorded it. */
  proven: boolean;
  /** The claim was given back or lost: the run is no longer this worker's. */
  released: boolean;
  /** The worker's last words: author code ended the process. */
  failure: LastWords | undefined;
  /** For what the host ends the worker, when the worker is to blame. */
  faultReason: string | undefined;
  /** For what the host ends the worker, when it is not. */
  hostReason: string | undefined;
  /** The worker's copy of the files was stale: the next one must load them itself. */
  wantsFresh: boolean;
  readonly commands: CommandProcess[];
}

export function newStanding(run: RunRecord, worker: SupervisedWorker): Standing {
  const { runId, generation } = run;
  return {
    run,
    worker,
    proof: { runId, workerId: worker.id, generation, tokenHash: worker.secretHash },
    mayBeStale: worker.preloadedFor !== undefined,
    attempt: undefined,
    opened: 0,
    proven: false,
    released: false,
    failure: undefined,
    faultReason: undefined,
    hostReason: undefined,
    wantsFresh: false,
    commands: [],
  };
}
