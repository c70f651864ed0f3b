/** A supervisor for one test, ended with it. */
import { onTestFinished, vi, expect } from "vitest";
import type { SupervisedWorker, WorkerExit } from "../../src/host/supervisor/supervised-worker.ts";
import { REFILL_DELAY_MS } from "../../src/host/supervisor/warm-pool.ts";
import type { FakeClock } from "./fake-clock.ts";
import { startRig, WANT } from "./supervisor-rig.ts";
import type { Rig, RigOptions } from "./supervisor-rig.ts";

/** Real processes start within this time, also on a machine that does much else. */
export const PATIENCE_MS = 10_000;

export async function rigFor(options: RigOptions): Promise<Rig> {
  const rig = await startRig(options);
  onTestFinished(() => rig.close());
  return rig;
}

/** The same with one worker taken. */
export async function busyRig(
  options: RigOptions,
): Promise<{ readonly rig: Rig; readonly worker: SupervisedWorker }> {
  const rig = await rigFor(options);
  return { rig, worker: await rig.supervisor.acquire(WANT) };
}

export async function endOf(worker: SupervisedWorker): Promise<WorkerExit> {
  return new Promise((resolve) => {
    worker.onEnd(resolve);
  });
}

/** Waits until so many workers are in this state. */
export async function inState(
  rig: Rig,
  state: SupervisedWorker["state"],
  count: number,
): Promise<readonly SupervisedWorker[]> {
  return vi.waitFor(() => {
    const found = rig.supervisor.live().filter((worker) => worker.state === state);
    expect(found).toHaveLength(count);
    return found;
  }, PATIENCE_MS);
}

/** Lets time pass until a spare is being started, and waits until it is ready. */
export async function spareAfterAWhile(rig: Rig, clock: FakeClock): Promise<SupervisedWorker> {
  await vi.waitFor(() => {
    clock.advance(REFILL_DELAY_MS);
    expect(rig.supervisor.live()).toHaveLength(1);
  }, PATIENCE_MS);
  const [spare] = await inState(rig, "spare", 1);
  if (spare === undefined) throw new Error("there is no spare");
  return spare;
}
