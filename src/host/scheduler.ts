/** What runs next, where there is a place for it, and what falls due. */
import type { Timer } from "../platform/clock.ts";
import { changedAt } from "../platform/file-times.ts";
import { bootId, cpuMsOf, stateOf } from "../platform/process-identity.ts";
import type { Settings } from "../platform/settings.ts";
import type { LoopBlock } from "./activation/loop-watch.ts";
import type { ActivationTools, ProcessProbe } from "./activation/tools.ts";
import type { HostContext } from "./context.ts";
import { STOP_EFFECT_GRACE_MS, VALIDATION_PLACES } from "./limits.ts";
import { expiredClaims } from "./operations/claims.ts";
import type { ClaimRecord, RunRecord } from "./records.ts";
import { DueTimes } from "./scheduler/due-times.ts";
import { Launcher } from "./scheduler/launcher.ts";
import type { FoundWorker, OfferedWorker } from "./scheduler/launcher.ts";
import { LEASE_TICK_MS } from "./scheduler/lease.ts";
import type { Lease } from "./scheduler/lease.ts";
import { Place } from "./scheduler/place.ts";
import { nextQueued, nextValidation } from "./scheduler/queue.ts";
import { takeOver } from "./scheduler/take-over.ts";
import type { StoreChange } from "./store/store.ts";
import type { Supervisor } from "./supervisor/supervisor.ts";

export interface SchedulerOptions {
  readonly host: HostContext;
  readonly supervisor: Pick<Supervisor, "acquire" | "acquireReady" | "remember" | "endTree">;
  readonly settings: Pick<Settings, "capacity" | "renewMs" | "loopBlockedMs" | "verdictGraceMs">;
  /** The clock behind `host.leaseNow`; the scheduler lets it tick. */
  readonly lease: Lease;
  /** Folder for transformed sources. */
  readonly cacheDir: string;
  readonly probe?: ProcessProbe;
}

/** A run that has a place now. */
export interface ActivationView {
  readonly runId: string;
  /** Absent while a worker is being found. */
  readonly generation?: number;
  readonly workerId?: string;
  readonly loopBlock?: LoopBlock;
}

export interface Scheduler {
  /** Begins to launch runs. Recovery comes before. */
  start(): void;
  /**
   * Hands over the worker that resolved a run's file, to be used if the run can
   * be launched as soon as it is stored. Called before the run is admitted, or in
   * the turn of the loop in which that is acknowledged.
   */
  offer(runId: string, offered: OfferedWorker): void;
  /** The run will not be stored: its worker is let go. */
  withdraw(runId: string): void;
  activations(): readonly ActivationView[];
  /** Present while the loop of the run's worker stands still. */
  loopBlock(runId: string): LoopBlock | undefined;
  /** Claims whose lease has run out and that nobody took over yet. */
  expiredClaims(): number;
  /** Launches nothing more and ends the workers; resolves when all of it is stored. */
  drain(now: boolean): Promise<void>;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  return new RunScheduler(options);
}

/** A tick that comes so late tells that the host itself did not run. */
const LATE_MS = 2 * LEASE_TICK_MS;

class RunScheduler implements Scheduler {
  readonly #options: SchedulerOptions;
  readonly #places = new Map<string, Place>();
  readonly #due: DueTimes;
  readonly #launcher: Launcher;
  readonly #givenUp = new AbortController();
  #ticking: Timer | undefined;
  #tickedAt = 0;
  #unsubscribe: readonly (() => void)[] = [];
  #filling = false;
  #state: "new" | "open" | "draining" = "new";

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#due = new DueTimes(options.host, () => this.#poke());
    const tools: ActivationTools = {
      host: options.host,
      supervisor: options.supervisor,
      settings: options.settings,
      probe: options.probe ?? { stateOf, cpuMsOf, bootId, changedAt },
      cacheDir: options.cacheDir,
      givenUp: this.#givenUp.signal,
    };
    this.#launcher = new Launcher(tools, options.supervisor);
  }

  start(): void {
    const { host } = this.#options;
    this.#state = "open";
    this.#tickedAt = host.clock.monotonic();
    this.#unsubscribe = [
      host.store.beforeCommit(({ runIds }) => this.#launchAlong(runIds)),
      host.store.subscribe((change) => this.#changed(change)),
    ];
    this.#ticking = host.clock.every(LEASE_TICK_MS, () => this.#tick());
    this.#poke();
  }

  offer(runId: string, offered: OfferedWorker): void {
    this.#launcher.offer(runId, offered);
  }

  withdraw(runId: string): void {
    this.#launcher.withdraw(runId);
  }

  activations(): readonly ActivationView[] {
    return [...this.#places.values()].map(viewOf);
  }

  loopBlock(runId: string): LoopBlock | undefined {
    return this.#places.get(runId)?.activation?.loopBlock();
  }

  expiredClaims(): number {
    return expiredClaims(this.#options.host).length;
  }

  async drain(now: boolean): Promise<void> {
    this.#state = "draining";
    this.#ticking?.cancel();
    this.#due.close();
    this.#givenUp.abort();
    this.#launcher.close();
    const graceMs = now ? 0 : STOP_EFFECT_GRACE_MS;
    for (const { activation } of this.#places.values()) activation?.drain(graceMs);
    // One whose launch is being written joins those that are waited for when that is done.
    while (this.#busy().length > 0) await Promise.all(this.#busy());
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #busy(): readonly Promise<void>[] {
    return [...this.#places.values()].map((place) => place.busy).filter((one) => one !== undefined);
  }

  #changed({ runIds, turnedRunIds }: StoreChange): void {
    for (const runId of turnedRunIds) this.#places.get(runId)?.activation?.changed();
    if (runIds.some((runId) => this.#places.get(runId)?.activation === undefined)) this.#poke();
  }

  #tick(): void {
    const { host, lease } = this.#options;
    const now = host.clock.monotonic();
    const late = now - this.#tickedAt > LATE_MS;
    this.#tickedAt = now;
    lease.tick(host.store.stalled);
    for (const { activation } of this.#places.values()) activation?.tick(late);
    this.#takeOverExpired();
    this.#due.tick();
    this.#poke();
  }

  /**
   * Looks at the queue in a later turn of the loop, once for all that happens in
   * this one: whoever admitted a run has had the time to offer a worker by then.
   */
  #poke(): void {
    if (this.#filling || this.#state !== "open") return;
    this.#filling = true;
    setImmediate(() => {
      this.#filling = false;
      if (this.#state === "open") this.#fill();
    });
  }

  #fill(): void {
    for (let run = this.#next(); run !== undefined; run = this.#next()) void this.#run(run);
    this.#launcher.retireOffers();
    this.#due.arm();
  }

  /**
   * What is about to be committed may queue a run. Where a place is free and a
   * worker is there, its launch shares that COMMIT.
   */
  #launchAlong(runIds: readonly string[]): void {
    if (this.#state !== "open" || runIds.every((runId) => this.#places.has(runId))) return;
    for (let run = this.#next(); run !== undefined; run = this.#next()) {
      const found = this.#launcher.ready(run);
      if (found === undefined) return;
      void this.#run(run, found);
    }
  }

  /** The run that gets a place now. Answers first: whoever submitted one waits for it. */
  #next(): RunRecord | undefined {
    if (!this.#launcher.isOpen) return undefined;
    const { host, settings } = this.#options;
    const { reader } = host.store;
    const taken = [...this.#places.values()];
    const validating = taken.filter((place) => place.isValidating).length;
    const isFree = taken.length - validating < settings.capacity;
    const validation =
      isFree || validating < VALIDATION_PLACES ? nextValidation(reader, taken) : undefined;
    return validation ?? (isFree ? nextQueued(reader, host.clock.now(), taken) : undefined);
  }

  async #run(run: RunRecord, found?: FoundWorker): Promise<void> {
    const place = new Place(run);
    this.#places.set(run.runId, place);
    try {
      // Without a pause where one is found: the launch is to be written in this very call.
      const worker = found ?? (await this.#launcher.workerFor(run));
      if (worker !== undefined) await place.occupy(this.#activate(place, run, worker));
    } finally {
      this.#places.delete(run.runId);
      this.#poke();
    }
  }

  async #activate(place: Place, run: RunRecord, worker: FoundWorker): Promise<void> {
    const activation = await this.#launcher.launch(run, worker);
    if (activation === undefined) return;
    place.activation = activation;
    if (this.#state === "draining") activation.drain(0);
    await this.#launcher.follow(activation);
  }

  #takeOverExpired(): void {
    for (const claim of expiredClaims(this.#options.host)) {
      const place = this.#places.get(claim.runId);
      if (place?.activation?.generation === claim.generation) place.activation.expire();
      else if (place === undefined) void this.#takeOver(claim);
    }
  }

  /** Its processes have to be ended first, which takes a place like every tree that ends. */
  async #takeOver(claim: ClaimRecord): Promise<void> {
    const { host } = this.#options;
    const { runId } = claim;
    const place = new Place({
      runId,
      projectDir: host.store.reader.runs.get(runId)?.projectDir ?? "",
    });
    this.#places.set(runId, place);
    try {
      await place.occupy(takeOver(this.#options, claim));
    } catch (error) {
      host.log.error("claim.take_over_fault", { runId, error });
    } finally {
      this.#places.delete(runId);
      this.#poke();
    }
  }
}

function viewOf({ runId, activation }: Place): ActivationView {
  if (activation === undefined) return { runId };
  const { generation, worker } = activation;
  const loopBlock = activation.loopBlock();
  const block = loopBlock === undefined ? {} : { loopBlock };
  return { runId, generation, workerId: worker.id, ...block };
}
