import { HostError } from "../errors.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { ClaimProof, ClaimRecord, RunRecord } from "../records.ts";
import { claimed, control, system } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { Tx } from "../store/tx.ts";
import { attach } from "./attach.ts";
import type { Attachment, BeginRecord } from "./attach.ts";
import { interrupt } from "./interruption.ts";
import type { InterruptOutcome, Interruption } from "./interruption.ts";
import { asOwner } from "./owner.ts";
import { changeRun } from "./step.ts";

/** A process as the platform identifies it. */
export interface WorkerProcess {
  readonly workerId: string;
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
}

export interface Launch {
  readonly runId: string;
  readonly worker: WorkerProcess;
  /** SHA-256 of the worker's secret. */
  readonly tokenHash: string;
  /** Present when the worker has everything loaded: the run is attached in the same transaction. */
  readonly attachment?: Attachment;
}

export interface Launched {
  readonly generation: number;
  readonly run: RunRecord;
  /** What the worker begins with, when it was attached. */
  readonly begin?: BeginRecord;
}

/**
 * Gives a queued run to a worker: a new claim of the next generation. Refused as
 * ILLEGAL_TRANSITION unless the run is queued, and while an earlier worker's
 * process tree is not confirmed gone.
 */
export function launchRun(
  host: HostContext,
  { runId, worker, tokenHash, attachment }: Launch,
): Promise<Launched> {
  return control(host, "launch", runId, (tx, run) => {
    const at = host.clock.now();
    const status = runLifecycle.next(run.status, "launch");
    requireAlone(tx, run);
    const { generation } = run;
    const acquired = host.leaseNow();
    const expiry = acquired + host.settings.claimMs;
    tx.put.claim({
      runId,
      generation,
      epoch: host.epoch,
      workerId: worker.workerId,
      tokenHash,
      acquired,
      heartbeat: acquired,
      expiry,
      released: false,
      lastNumber: 0,
    });
    tx.put.worker({ ...worker, runId, generation, epoch: host.epoch, startedAt: at });
    const after = changeRun(
      { tx, run, at },
      { event: "launch", change: { status }, data: { generation, workerId: worker.workerId } },
    );
    const launched = { generation, run: after.run };
    return attachment === undefined ? launched : { ...launched, begin: attach(after, attachment) };
  });
}

/** Keeps the claim of a quiet worker alive; every other valid write does so by itself. */
export function renewClaim(host: HostContext, proof: ClaimProof): Promise<void> {
  return claimed(host, "renew", { proof }, () => undefined);
}

export interface LostWorker extends Interruption {
  readonly runId: string;
  readonly generation: number;
}

/**
 * Tells that the worker of a generation is gone without evidence of how its
 * attempt ended. Does nothing when that generation is not the run's open one: a
 * park, pause, cancel or successor came first. Safe to repeat.
 */
export async function interruptRun(
  host: HostContext,
  lost: LostWorker,
): Promise<InterruptOutcome | "none"> {
  const claim = host.store.reader.claims.open(lost.runId);
  if (claim?.generation !== lost.generation) return "none";
  try {
    return await asOwner(host, "interrupt", claim, (step) => interrupt(step, lost));
  } catch (error) {
    if (isHandover(error)) return "none";
    throw error;
  }
}

/**
 * Stores how a worker ended, once its whole process tree is confirmed gone; only
 * then may its run be launched again. A repeat, and a worker that never had a
 * run, change nothing.
 */
export function recordWorkerExit(host: HostContext, exit: WorkerEnd): Promise<void> {
  return system(host, "worker_exit", (tx) => {
    const at = host.clock.now();
    const worker = tx.workers.get(exit.workerId);
    if (worker === undefined || worker.endedAt !== undefined) return;
    tx.put.workerChange(exit.workerId, {
      endedAt: at,
      exitCode: exit.code,
      exitSignal: exit.signal,
      exitReason: exit.reason,
    });
    for (const { effectId, application, outcome } of tx.effects.liveProcesses(worker.runId)) {
      if (outcome !== undefined) tx.put.effectAttemptChange(effectId, application, { endedAt: at });
    }
  });
}

export interface WorkerEnd {
  readonly workerId: string;
  readonly code?: number | undefined;
  readonly signal?: string | undefined;
  readonly reason: string;
}

/** Open claims of this host whose lease has run out: their runs may be taken over. */
export function expiredClaims(host: HostContext): readonly ClaimRecord[] {
  return host.store.reader.claims.expired(host.epoch, host.leaseNow());
}

function requireAlone(tx: Tx, run: RunRecord): void {
  const before = tx.workers.newest(run.runId);
  if (before === undefined || before.endedAt !== undefined) return;
  const message = `worker ${before.workerId} of run ${run.runId} is not confirmed gone`;
  throw new HostError("ILLEGAL_TRANSITION", message, { runId: run.runId, state: run.status });
}

/** Somebody else changed the run between the look and the write. */
function isHandover(error: unknown): boolean {
  return error instanceof HostError && ["CLAIM_LOST", "ILLEGAL_TRANSITION"].includes(error.reason);
}
