/**
 * Keeps workers ready before anybody needs them, and hands them out.
 *
 * All of it is one function, `#settle`, that is called after whatever happened
 * and does what is now possible: serve who waits, start what is missing, load
 * what was used last.
 */
import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Intent } from "./exit-reason.ts";
import { isFor, keyOf } from "./wanted.ts";
import { ForATime } from "./for-a-time.ts";
import { SpawnFailed } from "./supervised-worker.ts";
import type { SupervisedWorker, WantedWorkflow, Wish } from "./supervised-worker.ts";
import type { WorkerProcess } from "./worker-process.ts";

export interface PoolOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Spares wanted. */
  readonly spares: number;
  /** Age at which a spare is replaced. */
  readonly spareMs: number;
  /** With so many workers busy no spare is started: it would only take time from them. */
  readonly capacity: number;
  /** Processes that may start at the same time. */
  readonly startsMax: number;
  readonly cacheDir: string;
  readonly spawn: () => WorkerProcess;
}

interface Waiter {
  readonly want: Wish;
  readonly resolve: (worker: SupervisedWorker) => void;
  readonly reject: (error: SpawnFailed) => void;
}

/** A worker that nobody has taken yet. */
interface Idle {
  /** Started because somebody waited, who is told when it fails. */
  readonly demanded: boolean;
  /** When it is too old to be used. */
  expiry?: Timer;
}

/** Pause after a spare that was useless before anybody took it; doubled with each further one. */
const RESPAWN_MS_MIN = 1_000;
const RESPAWN_MS_MAX = 60_000;
const LAST_WORDS_BYTES = 2_048;
/** Forking holds up the host, and a start takes a core: both wait for who was served or has just come. */
export const REFILL_DELAY_MS = 200;

export class WarmPool {
  readonly #options: PoolOptions;
  #phase: "new" | "open" | "closed" = "new";
  readonly #waiters: Waiter[] = [];
  readonly #idle = new Map<WorkerProcess, Idle>();
  /** Discarded and not gone yet. */
  readonly #leaving = new Set<WorkerProcess>();
  #busy = 0;
  #remembered: WantedWorkflow | undefined;
  /** What printed, failed or died when it was loaded ahead, and when to try it again. */
  readonly #unloadable: ForATime;
  #useless = 0;
  #respawn: Timer | undefined;
  /** Present shortly after the host opened or a worker was handed out. */
  #refill: Timer | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#unloadable = new ForATime(options.clock, options.spareMs);
  }

  open(): void {
    this.#phase = "open";
    this.#refillLater();
    this.#settle();
  }

  /** Takes nothing new, refuses who waits, ends the spares. */
  close(): void {
    this.#phase = "closed";
    this.#respawn?.cancel();
    this.#refill?.cancel();
    for (const waiter of this.#waiters.splice(0)) waiter.reject(stopping());
    for (const worker of this.#idle.keys()) this.#discard(worker, UNNEEDED);
  }

  /** A worker that has loaded the workflow, else one that has run nothing. */
  async acquire(want: Wish): Promise<SupervisedWorker> {
    if (this.#phase === "closed") throw stopping();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ want, resolve, reject });
      this.#settle();
    });
  }

  /** The same for who cannot wait; who waits already comes first. */
  acquireReady(want: Wish): SupervisedWorker | undefined {
    if (this.#phase !== "open" || this.#waiters.length > 0) return undefined;
    const worker = this.#match(want);
    if (worker === undefined || worker.loading) return undefined;
    this.#hand(worker);
    return worker;
  }

  /** The workflow to have loaded in one of the spares. */
  remember(want: WantedWorkflow): void {
    this.#remembered = want;
    this.#settle();
  }

  ready(worker: WorkerProcess): void {
    const idle = this.#idle.get(worker);
    if (idle === undefined) return;
    const { clock, spareMs } = this.#options;
    idle.expiry = clock.after(spareMs, () => {
      this.#discard(worker, TOO_OLD);
      this.#settle();
    });
    this.#settle();
  }

  preloaded(worker: WorkerProcess, failure: string | undefined): void {
    if (failure !== undefined && this.#idle.has(worker)) {
      this.#blame(worker);
      this.#discard(worker, { cause: "killed", words: `could not load ahead: ${failure}` });
    }
    this.#settle();
  }

  /** A spare that prints is no longer one that has run nothing. One that still starts may complain. */
  output(worker: WorkerProcess): void {
    if (!this.#idle.has(worker) || worker.state === "starting") return;
    this.#blame(worker);
    this.#discard(worker, PRINTED);
    this.#settle();
  }

  ended(worker: WorkerProcess): void {
    const idle = this.#idle.get(worker);
    if (idle !== undefined) this.#lost(worker, idle);
    else if (!this.#leaving.delete(worker)) this.#busy -= 1;
    this.#settle();
  }

  /** It ended, and nobody here wanted it to. */
  #lost(worker: WorkerProcess, { demanded }: Idle): void {
    this.#forget(worker);
    this.#blame(worker);
    const cause = worker.exit?.cause ?? "exit";
    const reason = worker.exit?.reason ?? "";
    const tail = worker.outputTail(LAST_WORDS_BYTES).trim();
    const said = tail === "" ? "it printed nothing" : `it printed: ${tail}`;
    // What an author's module prints is the author's business and stays out of the log.
    const shown = worker.preloadedFor === undefined ? { said } : {};
    this.#options.log.warn("spare.lost", { worker: worker.id, cause, reason, ...shown });
    if (!demanded) return;
    const error = new SpawnFailed(cause, `a worker could not be started: ${reason}; ${said}`);
    this.#waiters.shift()?.reject(error);
  }

  #discard(worker: WorkerProcess, intent: Intent): void {
    if (!this.#idle.has(worker)) return;
    this.#forget(worker);
    this.#leaving.add(worker);
    worker.destroy(intent);
  }

  #forget(worker: WorkerProcess): void {
    this.#idle.get(worker)?.expiry?.cancel();
    this.#idle.delete(worker);
  }

  #settle(): void {
    if (this.#phase !== "open") return;
    this.#serve();
    this.#start();
    this.#loadAhead();
  }

  /** Serves in order; who has to wait for a load does not hold up those behind. */
  #serve(): void {
    for (const waiter of this.#waiters.slice()) {
      const worker = this.#match(waiter.want);
      if (worker === undefined || worker.loading) continue;
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      this.#hand(worker);
      waiter.resolve(worker);
    }
  }

  #hand(worker: WorkerProcess): void {
    this.#forget(worker);
    this.#busy += 1;
    this.#useless = 0;
    worker.take();
    this.#refillLater();
  }

  /** Not put off by those who come meanwhile: a busy host needs its spares most. */
  #refillLater(): void {
    this.#refill ??= this.#options.clock.after(REFILL_DELAY_MS, () => {
      this.#refill = undefined;
      this.#settle();
    });
  }

  /** One that has loaded it, or will have in a moment; else one that has run nothing. */
  #match(want: Wish): WorkerProcess | undefined {
    const usable = this.#usable().filter((worker) => worker.state !== "starting");
    return (
      usable.find((worker) => want.fresh !== true && isFor(worker, want)) ??
      usable.find((worker) => worker.preloadedFor === undefined)
    );
  }

  #usable(): readonly WorkerProcess[] {
    return [...this.#idle.keys()].filter((worker) => !worker.isEnding);
  }

  #start(): void {
    for (;;) {
      const idle = this.#usable();
      const starting = idle.filter((worker) => worker.state === "starting").length;
      if (starting >= this.#options.startsMax) return;
      const unserved = this.#waiters.filter(({ want }) => this.#match(want) === undefined).length;
      const demanded = unserved > starting;
      if (!demanded && idle.length - unserved >= this.#sparesWanted()) return;
      const worker = this.#spawn(demanded);
      if (worker === undefined) return;
      this.#idle.set(worker, { demanded });
    }
  }

  #spawn(demanded: boolean): WorkerProcess | undefined {
    try {
      return this.#options.spawn();
    } catch (error) {
      // Out of memory, processes or descriptors: not the host's end, and perhaps gone in a second.
      this.#holdOff();
      this.#options.log.error("worker.not_spawned", { error });
      const message = `a worker could not be started: ${String(error)}`;
      if (demanded) this.#waiters.shift()?.reject(new SpawnFailed("spawn", message));
      return undefined;
    }
  }

  #sparesWanted(): number {
    const exhausted = this.#busy + this.#waiters.length >= this.#options.capacity;
    const later = this.#respawn ?? this.#refill;
    return exhausted || later !== undefined ? 0 : this.#options.spares;
  }

  #loadAhead(): void {
    const want = this.#remembered;
    if (want === undefined || this.#unloadable.has(keyOf(want))) return;
    if (this.#waiters.length > 0 || this.#refill !== undefined) return;
    const idle = this.#usable();
    if (idle.some((worker) => isFor(worker, want))) return;
    const blank = idle.find(
      (worker) => worker.state === "spare" && worker.preloadedFor === undefined,
    );
    if (blank === undefined) return;
    for (const worker of idle) {
      if (worker.preloadedFor !== undefined) this.#discard(worker, FORGOTTEN);
    }
    blank.preload(want, this.#options.cacheDir);
  }

  /** Remembers what made it useless, so that its successor is not made useless at once. */
  #blame(worker: WorkerProcess): void {
    if (worker.preloadedFor === undefined) {
      this.#holdOff();
      return;
    }
    this.#unloadable.add(keyOf(worker.preloadedFor));
  }

  #holdOff(): void {
    const delayMs = Math.min(RESPAWN_MS_MIN * 2 ** this.#useless, RESPAWN_MS_MAX);
    this.#useless += 1;
    this.#respawn?.cancel();
    this.#respawn = this.#options.clock.after(delayMs, () => {
      this.#respawn = undefined;
      this.#settle();
    });
  }
}

const UNNEEDED: Intent = { cause: "killed", words: "not needed any more" };
const TOO_OLD: Intent = { cause: "killed", words: "waited too long to be used" };
const FORGOTTEN: Intent = { cause: "killed", words: "another workflow was used since" };
const PRINTED: Intent = { cause: "killed", words: "printed before it was used" };

function stopping(): SpawnFailed {
  return new SpawnFailed("stopping", "the host is stopping");
}
