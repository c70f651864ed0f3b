import type { HostContext } from "../context.ts";
import { HostError } from "../errors.ts";
import { interruptRun, recordWorkerExit } from "../operations/claims.ts";
import type { ClaimRecord, WorkerRecord } from "../records.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";

export interface Undertaker {
  readonly host: HostContext;
  readonly supervisor: Pick<Supervisor, "endTree">;
}

/**
 * Takes a run whose claim has run out from an owner nobody follows any more: its
 * processes are ended first. What cannot be written is tried at the next tick.
 */
export async function takeOver(undertaker: Undertaker, claim: ClaimRecord): Promise<void> {
  const { host } = undertaker;
  const { runId, generation, workerId } = claim;
  const worker = host.store.reader.workers.get(workerId);
  const reason = "its claim ran out";
  try {
    if (worker !== undefined) await endWorker(undertaker, worker);
    await interruptRun(host, { runId, generation, reason, counted: true });
    await recordWorkerExit(host, { workerId, reason });
    host.log.warn("claim.taken_over", { runId, generation, workerId });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    host.log.warn("claim.not_taken_over", { runId, generation, error });
  }
}

/** Confirms that nothing of an earlier worker is alive, and stores that. */
export async function buryWorker(undertaker: Undertaker, worker: WorkerRecord): Promise<void> {
  await endWorker(undertaker, worker);
  const { workerId } = worker;
  await recordWorkerExit(undertaker.host, { workerId, reason: "its end was not seen" });
}

async function endWorker({ host, supervisor }: Undertaker, worker: WorkerRecord): Promise<void> {
  const { workerId, pid, startTime, bootId } = worker;
  const groups = host.store.reader.effects
    .liveProcesses(worker.runId)
    .filter((command) => command.bootId === bootId)
    .map((command) => ({ pid: command.pid ?? 0, startTime: command.startTime ?? "" }))
    .filter((command) => command.pid > 0);
  await supervisor.endTree({ workerId, pid, startTime, groups });
}
