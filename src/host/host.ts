/** A whole host: builds its parts in order and stops them in reverse. */
import type { Clock } from "../platform/clock.ts";
import { sha256Hex } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Settings } from "../platform/settings.ts";
import type { StatePaths } from "../platform/state-folder.ts";
import { Activity } from "./activity.ts";
import { Capabilities, publishPersonKey, withdrawPersonKey } from "./capabilities.ts";
import type { HostContext } from "./context.ts";
import { createGate } from "./gate.ts";
import { HeadlessPis } from "./headless/headless-pis.ts";
import type { HandlerParts, HostControl } from "./handlers/parts.ts";
import { faultLog, rejections } from "./handlers/rejections.ts";
import { StreamCount } from "./handlers/stream-count.ts";
import { WORK_PATH, workerStreams } from "./handlers/worker-service.ts";
import { Housekeeping } from "./housekeeping.ts";
import { becomeInstance } from "./instance.ts";
import type { Instance } from "./instance.ts";
import { DRAIN_GRACE_MS, HOST_STOP_GRACE_MS } from "./limits.ts";
import { createLiveRuns } from "./live-runs.ts";
import { beginEpoch, openWhenFree } from "./open-state.ts";
import type { HostIdentity } from "./open-state.ts";
import { countApplying } from "./operations/queries.ts";
import { detachAll } from "./operations/sessions.ts";
import { recover } from "./recovery.ts";
import { createResolver } from "./resolver.ts";
import type { Resolver } from "./resolver.ts";
import { createScheduler } from "./scheduler.ts";
import type { Scheduler } from "./scheduler.ts";
import { createLease } from "./scheduler/lease.ts";
import type { Lease } from "./scheduler/lease.ts";
import { createSocketServer } from "./server.ts";
import type { SocketServer } from "./server.ts";
import { serveAll } from "./services.ts";
import { SessionHub } from "./sessions/hub.ts";
import { system } from "./store/doors.ts";
import type { Store } from "./store/store.ts";
import { createSupervisor } from "./supervisor/supervisor.ts";
import type { Supervisor } from "./supervisor/supervisor.ts";
import { createWorkflowResolver } from "./workflow-resolver.ts";

const DAY_MS = 86_400_000;

export interface HostSetup {
  readonly paths: StatePaths;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** The worker's program. */
  readonly workerPath: string;
  readonly version: string;
  /** The state is in doubt or no longer ours: the process must end at once and without a word. */
  readonly onFatal: (reason: string, error?: unknown) => void;
}

export interface Host {
  readonly epoch: number;
  /** Settles when everything is closed and the lock is given back. */
  readonly stopped: Promise<void>;
  /** Begins the stop; with `now`, effects that are being applied are not waited for. */
  stop(reason: string, now: boolean): void;
  /** How many effects are being applied, which an orderly stop waits for. */
  applying(): number;
}

/** Starts the host of a state folder; nothing when the folder has one. */
export async function startHost(setup: HostSetup): Promise<Host | undefined> {
  const instance = becomeInstance(setup.paths);
  if (instance === undefined) return undefined;
  let store: Store | undefined;
  try {
    store = await openWhenFree({
      ...setup,
      onFatal: (error) => setup.onFatal("the outcome of a commit is unknown", error),
    });
    const identity = await beginEpoch(store, setup);
    const host = new RunningHost(setup, { instance, store, identity });
    await host.begin();
    return host;
  } catch (error) {
    store?.close();
    instance.release();
    throw error;
  }
}

interface Foundation {
  readonly instance: Instance;
  readonly store: Store;
  readonly identity: HostIdentity;
}

class RunningHost implements Host {
  readonly epoch: number;
  readonly stopped: Promise<void>;
  readonly #setup: HostSetup;
  readonly #foundation: Foundation;
  readonly #context: HostContext;
  readonly #supervisor: Supervisor;
  readonly #scheduler: Scheduler;
  readonly #resolver: Resolver;
  readonly #server: SocketServer;
  readonly #streams = new StreamCount();
  readonly #capabilities = new Capabilities();
  readonly #sessions: SessionHub;
  readonly #headless: HeadlessPis;
  readonly #activity: Activity;
  readonly #startedAt: number;
  #housekeeping: Housekeeping | undefined;
  #stopping = false;
  #settleStopped: (end: Promise<void>) => void = () => undefined;

  constructor(setup: HostSetup, foundation: Foundation) {
    const { paths, settings, clock, log } = setup;
    const { epoch } = foundation.identity;
    const lease = createLease();
    this.#setup = setup;
    this.#foundation = foundation;
    this.epoch = epoch;
    this.stopped = new Promise((resolve) => {
      this.#settleStopped = resolve;
    });
    this.#startedAt = clock.monotonic();
    this.#activity = new Activity(clock);
    this.#context = contextOf(setup, foundation, lease);
    const storeTag = sha256Hex(paths.folder).slice(0, 16);
    const mayShow = (sessionId: string): boolean => this.#headless.mayShow(sessionId);
    this.#sessions = new SessionHub(this.#context, mayShow);
    const sessions = this.#sessions;
    this.#headless = new HeadlessPis({ ...setup, host: this.#context, sessions, storeTag });
    const { socket: socketPath, workersDir, cacheDir } = paths;
    const places = { socketPath, workersDir, cacheDir };
    this.#supervisor = createSupervisor({ ...setup, ...places, storeTag, hostEpoch: epoch });
    const shared = { supervisor: this.#supervisor, cacheDir };
    this.#scheduler = createScheduler({ ...shared, host: this.#context, settings, lease });
    this.#resolver = createResolver({ ...shared, clock });
    const logFault = faultLog(log);
    this.#server = createSocketServer({
      socketPath,
      clock,
      log,
      interceptors: [this.#activity.interceptor, rejections(logFault)],
      gate: createGate({
        version: setup.version,
        isStopping: () => this.#stopping,
      }),
      routes: (router) => serveAll(router, this.#handlerParts()),
      streams: new Map([[WORK_PATH, workerStreams(this.#supervisor, logFault)]]),
    });
  }

  /** Recovers, then listens, then begins to work. */
  async begin(): Promise<void> {
    const { paths, log, version } = this.#setup;
    const { instance, identity } = this.#foundation;
    const report = await recover(this.#context, this.#supervisor);
    await this.#headless.recover();
    await detachAll(this.#context);
    instance.clearSocket();
    this.#sessions.start();
    await this.#server.listen();
    this.#supervisor.start();
    this.#scheduler.start();
    this.#headless.start();
    this.#housekeeping = this.#keepHouse();
    const { epoch, pid } = identity;
    log.info("host.started", { epoch, pid, version, socket: paths.socket, ...report });
    publishPersonKey(paths.personKey, this.#capabilities.issue());
    this.#publish();
  }

  stop(reason: string, now: boolean): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#setup.log.info("host.stopping", { reason, now });
    this.#settleStopped(this.#end(now));
  }

  applying(): number {
    return countApplying(this.#foundation.store.reader);
  }

  /** In reverse: takes nothing new, ends the work, then the calls, then the state. */
  async #end(now: boolean): Promise<void> {
    const { clock, log, paths } = this.#setup;
    const { instance, store } = this.#foundation;
    this.#resolver.stop();
    await this.#housekeeping?.stop();
    await Promise.all([this.#scheduler.drain(now), this.#headless.stop()]);
    await Promise.all([
      this.#server.stop(DRAIN_GRACE_MS),
      this.#supervisor.stop(HOST_STOP_GRACE_MS),
    ]);
    await this.#sessions.stop();
    try {
      await system(this.#context, "host_stopped", (tx) =>
        tx.put.epochEnded(this.epoch, clock.now()),
      );
    } catch (error) {
      // A stop does not wait for a disk to have space; the row only tells how orderly it was.
      log.warn("host.end_unrecorded", { error });
    }
    store.close();
    withdrawPersonKey(paths.personKey);
    log.info("host.stopped", { epoch: this.epoch });
    instance.release();
  }

  #handlerParts(): HandlerParts {
    return {
      host: this.#context,
      live: createLiveRuns(this.#scheduler, this.#supervisor),
      supervisor: this.#supervisor,
      resolver: createWorkflowResolver(this.#resolver, this.#scheduler),
      streams: this.#streams,
      capabilities: this.#capabilities,
      sessions: this.#sessions,
      headless: this.#headless,
      control: this.#control(),
    };
  }

  #control(): HostControl {
    const { version, settings, clock } = this.#setup;
    return {
      version,
      startedAt: this.#foundation.identity.startedAt,
      capacity: settings.capacity,
      retentionMs: settings.retentionDays * DAY_MS,
      state: () => {
        if (this.#stopping) return "stopping";
        return this.#foundation.store.stalled ? "storage_stalled" : "serving";
      },
      uptimeMs: () => clock.monotonic() - this.#startedAt,
      // In a later turn of the loop, so that the call is answered first.
      shutDown: (now) => void setImmediate(() => this.stop("a client asked for it", now)),
    };
  }

  #keepHouse(): Housekeeping {
    const { settings } = this.#setup;
    return new Housekeeping({
      host: this.#context,
      supervisor: this.#supervisor,
      activity: this.#activity,
      idleMs: settings.idleMs,
      retentionMs: settings.retentionDays * DAY_MS,
      isWorking: () => this.#scheduler.activations().length > 0 || this.#headless.isNeeded,
      openStreams: () => this.#streams.open,
      checkIdentity: () => this.#checkIdentity(),
      onIdle: () => this.stop("nothing to do", false),
    });
  }

  /** Somebody moved, replaced or removed files of ours. */
  #checkIdentity(): void {
    const { instance, store } = this.#foundation;
    const identity = instance.identity();
    if (identity === "lock_replaced" || !store.checkIdentity()) {
      this.#setup.onFatal("the lock or the database was replaced; nothing more is written to them");
    } else if (identity === "socket_gone" && !this.#stopping) {
      this.#setup.log.warn("socket.bound_again");
      this.#server.listen().then(
        () => this.#publishAgain(),
        (error: unknown) => this.#setup.onFatal("the socket cannot be bound again", error),
      );
    }
  }

  /** Whoever still finds the file is told the same by it. */
  #publishAgain(): void {
    try {
      this.#publish();
    } catch (error) {
      this.#setup.log.warn("host.file_not_written", { error });
    }
  }

  #publish(): void {
    const { startedAt, ...self } = this.#foundation.identity;
    this.#foundation.instance.publish({
      ...self,
      version: this.#setup.version,
      startedAt: new Date(startedAt).toISOString(),
    });
  }
}

function contextOf(
  { clock, log, settings }: HostSetup,
  { store, identity }: Foundation,
  lease: Lease,
): HostContext {
  const { claimMs } = settings;
  const leaseNow = (): number => lease.now();
  return { store, clock, epoch: identity.epoch, leaseNow, settings: { claimMs }, log };
}
