import { StopReason } from "../../gen/piworkflows/worker/v1/answers_pb.ts";
import { Activation } from "../activation/activation.ts";
import type { ActivationTools } from "../activation/tools.ts";
import { isStorageTrouble } from "../activation/writes.ts";
import { HostError } from "../errors.ts";
import { KILL_GRACE_MS } from "../limits.ts";
import { launchRun } from "../operations/claims.ts";
import type { RunRecord, WorkerRecord } from "../records.ts";
import type { SupervisedWorker, Wish } from "../supervisor/supervised-worker.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import { isSpareCurrent } from "./spare-check.ts";
import { buryWorker } from "./take-over.ts";

/** A worker that resolved a run's file. */
export interface OfferedWorker {
  readonly worker: SupervisedWorker;
  /** The run's first attempt, when its deadline is known already. */
  readonly first?: { readonly timeoutMs?: number };
}

/** A worker for one run. */
export interface FoundWorker extends OfferedWorker {
  /** It resolved the file for this very run. */
  readonly justResolved: boolean;
}

/** After a worker could not be started or a launch not be stored, everybody waits so long. */
const HOLD_MS = 1_000;

type LaunchSupervisor = Pick<Supervisor, "acquire" | "acquireReady" | "remember">;

/** Finds a worker for a run and gives it the run's claim. */
export class Launcher {
  readonly #tools: ActivationTools;
  readonly #supervisor: LaunchSupervisor;
  /** Workers that resolved a run's file and wait for its launch. */
  readonly #offers = new Map<string, FoundWorker>();
  /** Workers whose launch could not be stored, kept so that none is started for each try. */
  readonly #kept = new Map<string, FoundWorker>();
  /** Runs for which a preloaded spare was out of date. */
  readonly #fresh = new Set<string>();
  #heldUntil = 0;
  #closed = false;

  constructor(tools: ActivationTools, supervisor: LaunchSupervisor) {
    this.#tools = tools;
    this.#supervisor = supervisor;
  }

  /** False for a moment after a launch failed for a reason that others share. */
  get isOpen(): boolean {
    return !this.#closed && this.#tools.host.clock.monotonic() >= this.#heldUntil;
  }

  offer(runId: string, offered: OfferedWorker): void {
    if (this.#closed) release(offered.worker);
    else this.#offers.set(runId, { ...offered, justResolved: true });
  }

  /** There will be no such run. */
  withdraw(runId: string): void {
    const offered = this.#offers.get(runId);
    this.#offers.delete(runId);
    if (offered !== undefined) release(offered.worker);
  }

  /** There was no place for these: a waiting run keeps no process. */
  retireOffers(): void {
    const { runs } = this.#tools.host.store.reader;
    // One that is not stored yet is about to be, or is withdrawn.
    for (const runId of this.#offers.keys())
      if (runs.get(runId) !== undefined) this.withdraw(runId);
    for (const [runId, { worker }] of this.#kept) {
      if (runs.get(runId)?.status === "queued") continue;
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

  /** A worker that is there already, for a run of which nothing is left to be ended. */
  ready(run: RunRecord): FoundWorker | undefined {
    const { runId } = run;
    if (this.#unburied(runId) !== undefined) return undefined;
    const held = this.#take(runId);
    if (held !== undefined) return held;
    const worker = this.#supervisor.acquireReady(this.#wishFor(run));
    if (worker === undefined) return undefined;
    if (this.#isCurrent(worker, run)) return { worker, justResolved: false };
    release(worker);
    return undefined;
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
    const first = firstAttempt(run, found);
    const attachment = first === undefined ? {} : { attachment: { ...first, newSources: [] } };
    const launch = { runId, worker: process, tokenHash, ...attachment };
    try {
      const { run: launched, begin } = await launchRun(this.#tools.host, launch);
      return new Activation(this.#tools, {
        run: launched,
        worker,
        justResolved,
        ...(begin === undefined ? {} : { attached: { begin, limit: first ?? {} } }),
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

  /** An earlier worker of the run of which nobody has stored that it is gone. */
  #unburied(runId: string): WorkerRecord | undefined {
    const before = this.#tools.host.store.reader.workers.newest(runId);
    return before?.endedAt === undefined ? before : undefined;
  }

  async #buryEarlier({ runId }: RunRecord): Promise<void> {
    const before = this.#unburied(runId);
    if (before !== undefined) await buryWorker(this.#tools, before);
  }

  async #acquire(run: RunRecord): Promise<SupervisedWorker> {
    const wish = this.#wishFor(run);
    const worker = await this.#supervisor.acquire(wish);
    if (this.#isCurrent(worker, run)) return worker;
    release(worker);
    return await this.#supervisor.acquire({ ...wish, fresh: true });
  }

  /** A spare that loaded the disk's bytes cannot run the recorded ones. */
  #wishFor({ runId, workflowPath, projectDir, useRecorded }: RunRecord): Wish {
    return { workflowPath, projectDir, fresh: useRecorded || this.#fresh.has(runId) };
  }

  #isCurrent(worker: SupervisedWorker, run: RunRecord): boolean {
    const recorded = this.#tools.host.store.reader.sources.ofRun(run.runId);
    return isSpareCurrent(worker, run, { recorded, changedAt: this.#tools.probe.changedAt });
  }

  #hold(event: string, { runId }: RunRecord, error: unknown): void {
    if (this.#closed) return;
    this.#heldUntil = this.#tools.host.clock.monotonic() + HOLD_MS;
    this.#tools.host.log.error(event, { runId, error });
  }
}

/**
 * The attempt to begin, where the host knows all of it: the run is then attached
 * as it is launched, and the worker begins without asking. Of anything but a new
 * run or an edge to be taken only the worker can tell the deadline.
 */
function firstAttempt(
  { routing, activation }: RunRecord,
  { worker, justResolved, first }: FoundWorker,
): { readonly timeoutMs?: number } | undefined {
  if (routing) return worker.preloadedFor === undefined ? undefined : {};
  return justResolved && activation === "start" ? first : undefined;
}

function release(worker: SupervisedWorker): void {
  worker.stop(StopReason.RETIRED, KILL_GRACE_MS);
}
