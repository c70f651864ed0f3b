/** Children of the host, and nothing about workflows: started, connected, watched, ended, buried. */
import { availableParallelism } from "node:os";
import type { WorkRequest } from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { StopReason } from "../../gen/piworkflows/worker/v1/answers_pb.ts";
import type { Clock } from "../../platform/clock.ts";
import { crashPoint } from "../../platform/crash-points.ts";
import { newId, newSecret, sha256Hex } from "../../platform/ids.ts";
import type { Log } from "../../platform/log.ts";
import { bootId } from "../../platform/process-identity.ts";
import { packageVersion } from "../../platform/settings.ts";
import type { Settings } from "../../platform/settings.ts";
import type { CapturedOutput, OutputPiece } from "./capture-file.ts";
import { findPrlimit, launchCommand, launchEnvironment } from "./launch.ts";
import type { LaunchLine } from "./launch.ts";
import { OutputCapture } from "./output-capture.ts";
import { OutputLog } from "./output-log.ts";
import type { FollowOptions } from "./output-log.ts";
import { ProcessTree } from "./process-tree.ts";
import type { TreeRoot } from "./process-tree.ts";
import type { SupervisedWorker, WantedWorkflow, Wish, WorkerChannel } from "./supervised-worker.ts";
import { WarmPool } from "./warm-pool.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<Settings, "capacity" | "spares" | "spareMs" | "workerMemoryMb">;
  /** The worker's program: worker.cjs, beside the host's own. */
  readonly workerPath: string;
  readonly socketPath: string;
  /** Names the state folder in environments; without dots, and no secret. */
  readonly storeTag: string;
  readonly hostEpoch: number;
  readonly workersDir: string;
  /** Where spares find transformed sources. */
  readonly cacheDir: string;
  /** Version of this host; a worker must have the same. */
  readonly version?: string;
  /** Called in the moment a process exists, so that it can be recorded. */
  readonly onSpawned?: (worker: SupervisedWorker) => void;
}

/** A worker of an earlier host, as it was recorded. */
export interface WorkerTrace extends TreeRoot {
  readonly bootId: string;
}

/** What was still alive of earlier hosts, and is not any more. */
export interface ReapReport {
  /** Workers of which something lived. */
  readonly workers: readonly string[];
  /** Processes that were ended, those without a record included. */
  readonly processes: number;
}

export interface Supervisor {
  /** Begins to keep spares. Workers that are asked for before come after. */
  start(): void;
  /** A preloaded spare, else a spare, else a new process; throws `SpawnFailed`. */
  acquire(want: Wish): Promise<SupervisedWorker>;
  /** A preloaded spare, else a spare, if there is one now. */
  acquireReady(want: Wish): SupervisedWorker | undefined;
  /** The workflow that was used last: one spare loads it. */
  remember(want: WantedWorkflow): void;
  /** The worker that holds this secret and is not gone. */
  authenticate(secret: string | undefined): SupervisedWorker | undefined;
  /** Its stream opened. */
  connect(worker: SupervisedWorker, channel: WorkerChannel): void;
  /** Its stream brought a frame. */
  receive(worker: SupervisedWorker, frame: WorkRequest): void;
  /** Its stream ended. */
  disconnected(worker: SupervisedWorker): void;
  /** All workers that are not gone, spares included. */
  live(): readonly SupervisedWorker[];
  /** Resolves when nothing of a worker is alive; SIGTERM first, SIGKILL after 2 s. */
  endTree(root: TreeRoot): Promise<void>;
  /** Ends what is left of earlier hosts. */
  reap(traces: readonly WorkerTrace[]): Promise<ReapReport>;
  readLog(workerId: string): CapturedOutput;
  followLog(workerId: string, options: FollowOptions): AsyncGenerator<OutputPiece>;
  /** Removes the output of workers that have ended and are not known any more; returns of how many. */
  removeLogs(isKnown: (workerId: string) => boolean): number;
  /** Starts nothing new, ends everybody, and resolves when nothing is left. A repeat waits too. */
  stop(graceMs: number): Promise<void>;
}

/** Worker epochs of one host; those of the next host begin above. */
const EPOCHS_PER_HOST = 2 ** 20;

export function createSupervisor(options: SupervisorOptions): Supervisor {
  return new ChildSupervisor(options);
}

class ChildSupervisor implements Supervisor {
  readonly #options: SupervisorOptions;
  readonly #version: string;
  readonly #pool: WarmPool;
  readonly #tree: ProcessTree;
  readonly #output: OutputLog;
  readonly #bySecret = new Map<string, WorkerProcess>();
  readonly #burials = new Set<Promise<void>>();
  #prlimit: string | undefined;
  #epoch: number;
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    // Read now: the package may be replaced while the host runs.
    this.#version = options.version ?? packageVersion();
    this.#epoch = options.hostEpoch * EPOCHS_PER_HOST;
    this.#tree = new ProcessTree(options);
    this.#output = new OutputLog(options.workersDir);
    this.#pool = new WarmPool({
      ...options.settings,
      clock: options.clock,
      log: options.log,
      cacheDir: options.cacheDir,
      startsMax: availableParallelism(),
      spawn: () => this.#spawn(),
    });
  }

  start(): void {
    void this.#open();
  }

  acquire(want: Wish): Promise<SupervisedWorker> {
    return this.#pool.acquire(want);
  }

  acquireReady(want: Wish): SupervisedWorker | undefined {
    return this.#pool.acquireReady(want);
  }

  remember(want: WantedWorkflow): void {
    this.#pool.remember(want);
  }

  authenticate(secret: string | undefined): SupervisedWorker | undefined {
    // By digest: how long the comparison takes then tells nothing about the secret.
    return secret === undefined ? undefined : this.#bySecret.get(sha256Hex(secret));
  }

  connect(worker: SupervisedWorker, channel: WorkerChannel): void {
    const own = this.#own(worker);
    if (own === undefined) channel.close();
    else own.connect(channel);
  }

  receive(worker: SupervisedWorker, frame: WorkRequest): void {
    this.#own(worker)?.receive(frame);
  }

  disconnected(worker: SupervisedWorker): void {
    this.#own(worker)?.disconnected();
  }

  live(): readonly SupervisedWorker[] {
    return [...this.#bySecret.values()];
  }

  async endTree(root: TreeRoot): Promise<void> {
    await this.#tree.end(root);
  }

  async reap(traces: readonly WorkerTrace[]): Promise<ReapReport> {
    const ends = traces.map(async (trace) => {
      // Numbers of another boot mean nothing; the tag still finds what there cannot be.
      const isThisBoot = trace.bootId === bootId();
      const root = isThisBoot ? trace : { ...trace, pid: 0, groups: [] };
      return { workerId: trace.workerId, count: await this.#tree.end(root) };
    });
    const found = (await Promise.all(ends)).filter(({ count }) => count > 0);
    const strays = await this.#tree.endStrays(this.#options.hostEpoch);
    return {
      workers: found.map(({ workerId }) => workerId),
      processes: found.reduce((sum, { count }) => sum + count, strays),
    };
  }

  readLog(workerId: string): CapturedOutput {
    return this.#output.read(workerId);
  }

  followLog(workerId: string, options: FollowOptions): AsyncGenerator<OutputPiece> {
    return this.#output.follow(workerId, options);
  }

  removeLogs(isKnown: (workerId: string) => boolean): number {
    const alive = new Set(this.live().map(({ id }) => id));
    return this.#output.removeUnless((id) => alive.has(id) || isKnown(id));
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#pool.close();
    const ends = [...this.#bySecret.values()].map(async (worker) => {
      // Also one that was asked before, perhaps with more time than there is now.
      worker.stop(StopReason.HOST_STOPPING, graceMs);
      await new Promise((resolve) => {
        worker.onEnd(resolve);
      });
    });
    await Promise.all(ends);
    await Promise.all(this.#burials);
  }

  async #open(): Promise<void> {
    this.#prlimit = await findPrlimit();
    if (!this.#stopping) this.#pool.open();
  }

  #own(worker: SupervisedWorker): WorkerProcess | undefined {
    return this.#bySecret.get(worker.secretHash);
  }

  #spawn(): WorkerProcess {
    const { clock, log, settings, workerPath } = this.#options;
    this.#epoch += 1;
    const id = newId("wrk");
    const secret = newSecret();
    const capture = new OutputCapture({ clock, log, file: this.#output.fileOf(id) });
    const tag = `${this.#options.storeTag}.${this.#options.hostEpoch}.${id}`;
    const worker = new WorkerProcess({
      clock,
      id,
      epoch: this.#epoch,
      secretHash: sha256Hex(secret),
      version: this.#version,
      child: {
        capture,
        command: launchCommand(this.#prlimit, { workerPath, memoryMb: settings.workerMemoryMb }),
        environment: launchEnvironment(tag),
        firstLine: JSON.stringify(this.#launchLine(id, secret)),
      },
      events: {
        ready: (ready) => this.#pool.ready(ready),
        preloaded: (loaded, failure) => this.#pool.preloaded(loaded, failure),
        output: (loud) => this.#pool.output(loud),
        died: (dead) => this.#tree.noteDeath(dead.id, dead.pid),
        ended: (ended) => this.#bury(ended),
      },
    });
    crashPoint("spawn.after");
    this.#bySecret.set(worker.secretHash, worker);
    this.#output.attach(id, capture);
    this.#options.onSpawned?.(worker);
    return worker;
  }

  #launchLine(workerId: string, secret: string): LaunchLine {
    return {
      secret,
      socketPath: this.#options.socketPath,
      workerId,
      workerEpoch: this.#epoch,
      hostVersion: this.#version,
      parentPid: process.pid,
    };
  }

  /** A worker that served a run has an owner who ends its tree; nobody else looks after the others. */
  #bury(worker: WorkerProcess): void {
    this.#bySecret.delete(worker.secretHash);
    if (worker.boundTo === undefined) {
      const { id: workerId, pid, startTime } = worker;
      const burial = this.endTree({ workerId, pid, startTime, groups: [] });
      this.#burials.add(burial);
      void burial.finally(() => this.#burials.delete(burial));
    }
    this.#pool.ended(worker);
  }
}
