import { StopReason } from "../../gen/piworkflows/worker/v1/answers_pb.ts";
import { Activation } from "../activation/activation.ts";
import type { ActivationTools } from "../activation/tools.ts";
import { isStorageTrouble } from "../activation/writes.ts";
import { HostError } from "../errors.ts";
import { KILL_GRACE_MS } from "../limits.ts";
import { launchRun } from "../operations/claims.ts";
import type { RunRecord } from "../records.ts";
import type { SupervisedWorker } from "../supervisor/supervised-worker.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import { isSpareCurrent } from "./spare-check.ts";
import { buryWorker } from "./take-over.ts";

/** A worker for one run. */
export interface FoundWorker {
  readonly worker: SupervisedWorker;
  /** It resolved the file for this very run. */
  readonly justResolved: boolean;
}

/** After a worker could not be started or a launch not be stored, everybody waits so long. */
const HOLD_MS = 1_000;

/** Finds a worker for a run and gives it the run's claim. */
export class Launcher {
  readonly #tools: ActivationTools;
  readonly #supervisor: Pick<Supervisor, "acquire" | "remember">;
  /** Workers that resolved a run's file and wait for its launch. */
  readonly #offers = new Map<string, FoundWorker>();
  /** Workers whose launch could not be stored, kept so that none is started for each try. */
  readonly #kept = new Map<string, FoundWorker>();
  /** Runs for which a preloaded spare was out of date. */
  readonly #fresh = new Set<string>();
  #heldUntil = 0;
  #closed = false;

  constructor(tools: ActivationTools, supervisor: Pick<Supervisor, "acquire" | "remember">) {
    this.#tools = tools;
    this.#supervisor = supervisor;
  }

  /** False for a moment after a launch failed for a reason that others share. */
  get isOpen(): boolean {
    return !this.#closed && this.#tools.host.clock.monotonic() >= this.#heldUntil;
  }

  offer(runId: string, worker: SupervisedWorker): void {
    if (this.#closed) release(worker);
    else this.#offers.set(runId, { worker, justResolved: true });
  }

  /** There was no place for these: a waiting run keeps no process. */
  retireOffers(): void {
    for (const { worker } of this.#offers.values()) release(worker);
    this.#offers.clear();
    for (const [runId, { worker }] of this.#kept) {
      if (this.#tools.host.store.reader.runs.get(runId)?.status === "queued") continue;
      this.#kept.delete(runId);
      release(worker);
    }
  }

  /** Launches nothing more, and gives back what it holds. */
  close(): void {
    this.#closed = true;
    for (const held of [this.#offers, this.#kept]) {
      for (const { worker } of held.values()) release(worker);
      held.clear();
    }
  }

  /** Absent when there is none to be had now; then everybody is held for a moment. */
  async workerFor(run: RunRecord): Promise<FoundWorker | undefined> {
    try {
      const held = this.#take(run.runId);
      await this.#buryEarlier(run);
      const found = held ?? { worker: await this.#acquire(run), justResolved: false };
      if (!this.#closed) return found;
      release(found.worker);
    } catch (error) {
      this.#hold("launch.no_worker", run, error);
    }
    return undefined;
  }

  /** Absent when the run could not be launched; then it is queued as before, or somebody took it. */
  async launch(run: RunRecord, found: FoundWorker): Promise<Activation | undefined> {
    const { worker, justResolved } = found;
    const { runId, workflowPath, projectDir } = run;
    const { id: workerId, pid, startTime, secretHash: tokenHash } = worker;
    const process = { workerId, pid, startTime, bootId: this.#tools.probe.bootId() };
    try {
      const launched = await launchRun(this.#tools.host, { runId, worker: process, tokenHash });
      return new Activation(this.#tools, {
        run: launched.run,
        worker,
        justResolved,
        onBegun: () => this.#supervisor.remember({ workflowPath, projectDir }),
      });
    } catch (error) {
      if (isStorageTrouble(error) && !this.#closed) this.#kept.set(runId, found);
      else release(worker);
      // A run that was paused or cancelled meanwhile holds nobody up.
      const isOvertaken = error instanceof HostError && !isStorageTrouble(error);
      if (!isOvertaken) this.#hold("launch.failed", run, error);
      return undefined;
    }
  }

  /** Resolves when the activation has ended and its place is free. */
  async follow(activation: Activation): Promise<void> {
    const { wantsFresh } = await activation.ended;
    if (wantsFresh) this.#fresh.add(activation.runId);
    else this.#fresh.delete(activation.runId);
  }

  #take(runId: string): FoundWorker | undefined {
    const found = this.#offers.get(runId) ?? this.#kept.get(runId);
    this.#offers.delete(runId);
    this.#kept.delete(runId);
    return found === undefined || found.worker.state === "ended" ? undefined : found;
  }

  async #buryEarlier({ runId }: RunRecord): Promise<void> {
    const before = this.#tools.host.store.reader.workers.newest(runId);
    if (before !== undefined && before.endedAt === undefined) await buryWorker(this.#tools, before);
  }

  async #acquire(run: RunRecord): Promise<SupervisedWorker> {
    const { runId, workflowPath, projectDir, useRecorded } = run;
    // A spare that loaded the disk's bytes cannot run the recorded ones.
    const fresh = useRecorded || this.#fresh.has(runId);
    const worker = await this.#supervisor.acquire({ workflowPath, projectDir, fresh });
    const recorded = this.#tools.host.store.reader.sources.ofRun(runId);
    const { changedAt } = this.#tools.probe;
    if (await isSpareCurrent(worker, run, { recorded, changedAt })) return worker;
    release(worker);
    return await this.#supervisor.acquire({ workflowPath, projectDir, fresh: true });
  }

  #hold(event: string, { runId }: RunRecord, error: unknown): void {
    if (this.#closed) return;
    this.#heldUntil = this.#tools.host.clock.monotonic() + HOLD_MS;
    this.#tools.host.log.error(event, { runId, error });
  }
}

function release(worker: SupervisedWorker): void {
  worker.stop(StopReason.RETIRED, KILL_GRACE_MS);
}
