/**
 * What happens once, before the socket opens: what earlier hosts left running is
 * ended, what they left undecided is decided from the rows, what fell due is
 * settled. Each step may be interrupted and done again.
 */
import { crashPoint } from "../platform/crash-points.ts";
import { isAlive } from "../platform/process-identity.ts";
import type { HostContext } from "./context.ts";
import { PAGE_MAX } from "./limits.ts";
import type { RunStatus } from "./lifecycle/run.ts";
import { interruptRun, recordWorkerExit } from "./operations/claims.ts";
import { rebuildMissingResults } from "./operations/results.ts";
import { expireValidations } from "./operations/submissions.ts";
import { settleDue } from "./operations/timers.ts";
import type { RunRecord, WorkerRecord } from "./records.ts";
import type { Supervisor, WorkerTrace } from "./supervisor/supervisor.ts";

export interface RecoveryReport {
  /** Processes of earlier hosts that were still alive. */
  readonly reaped: number;
  /** Runs that an earlier host left starting or running. */
  readonly interrupted: number;
  /** Deadlines and timers that had passed. */
  readonly settled: number;
  /** Ends of runs that their sessions had not been told. */
  readonly told: number;
}

const HOST_GONE = "its host ended";
/** In these statuses a run has a worker, and after a start nobody has one. */
const OWNED: readonly RunStatus[] = ["starting", "running"];
/** The number of no process. */
const NOBODY = 0;

export async function recover(
  host: HostContext,
  supervisor: Pick<Supervisor, "reap">,
): Promise<RecoveryReport> {
  const left = host.store.reader.workers.live();
  const { processes } = await supervisor.reap(left.map((worker) => traceOf(host, worker)));
  crashPoint("recovery.step", "reaped");
  // Before the exits are stored: until then nobody launches these runs again.
  const interrupted = await interruptOwned(host);
  crashPoint("recovery.step", "interrupted");
  await Promise.all(
    left.map(({ workerId }) => recordWorkerExit(host, { workerId, reason: HOST_GONE })),
  );
  crashPoint("recovery.step", "exits_recorded");
  // What was being validated when the host ended is validated again, unless it is too late.
  const late = await expireValidations(host);
  const settled = late + (await settleDue(host, host.clock.now()));
  crashPoint("recovery.step", "settled");
  const told = await rebuildMissingResults(host);
  return { reaped: processes, interrupted, settled, told };
}

/**
 * A worker whose host lives all the same belongs to another folder, of which this database is a copy:
 * what the rows say of its processes is that host's business. By our own tag all of ours are found.
 */
function traceOf(host: HostContext, worker: WorkerRecord): WorkerTrace {
  const { workerId, runId, pid, startTime, bootId } = worker;
  const before = host.store.reader.epochs.get(worker.epoch);
  if (before !== undefined && isAlive(before)) {
    return { workerId, pid: NOBODY, startTime, bootId, groups: [] };
  }
  const groups = host.store.reader.effects
    .liveProcesses(runId)
    .filter((process) => process.bootId === bootId)
    .flatMap((process) =>
      process.pid === undefined || process.startTime === undefined
        ? []
        : [{ pid: process.pid, startTime: process.startTime }],
    );
  return { workerId, pid, startTime, bootId, groups };
}

/** Losing its host is no fault of a run, so it does not count against it. */
async function interruptOwned(host: HostContext): Promise<number> {
  let count = 0;
  for (const status of OWNED) {
    for (const run of ownedRuns(host, status)) {
      await interruptRun(host, {
        runId: run.runId,
        generation: run.generation,
        reason: HOST_GONE,
        counted: false,
      });
      count += 1;
    }
  }
  return count;
}

/** A page at a time: a run that was decided is in no later page. */
function* ownedRuns(host: HostContext, status: RunStatus): Generator<RunRecord> {
  let after = 0;
  for (;;) {
    const page = host.store.reader.runs.withStatus(status, after, PAGE_MAX);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_MAX) return;
    after = last.position;
  }
}
