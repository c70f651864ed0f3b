/** The real core of a host over files in memory; only socket, processes and time are made up. */
import { createRouterTransport } from "@connectrpc/connect";
import type { Transport } from "@connectrpc/connect";
import type Database from "better-sqlite3";
import { join } from "node:path";
import { Capabilities } from "../../src/host/capabilities.ts";
import type { HostContext } from "../../src/host/context.ts";
import type { HandlerParts } from "../../src/host/handlers/parts.ts";
import { rejections } from "../../src/host/handlers/rejections.ts";
import { StreamCount } from "../../src/host/handlers/stream-count.ts";
import { WIRE_DEPTH_MAX } from "../../src/host/limits.ts";
import { createLiveRuns } from "../../src/host/live-runs.ts";
import { detachAll } from "../../src/host/operations/sessions.ts";
import { recover } from "../../src/host/recovery.ts";
import { createScheduler } from "../../src/host/scheduler.ts";
import type { Scheduler } from "../../src/host/scheduler.ts";
import { createLease } from "../../src/host/scheduler/lease.ts";
import { serveAll } from "../../src/host/services.ts";
import { SessionHub } from "../../src/host/sessions/hub.ts";
import { takeEpoch } from "../../src/host/store/doors.ts";
import { openStore } from "../../src/host/store/store.ts";
import type { Store } from "../../src/host/store/store.ts";
import type { FakeClock } from "../support/fake-clock.ts";
import { HostClock } from "./host-clock.ts";
import { lastOpened } from "./opened.ts";
import { hostLog } from "./host-log.ts";
import { SimResolver } from "./sim-resolver.ts";
import type { WorkflowFile } from "./sim-resolver.ts";
import { SimSupervisor } from "./sim-supervisor.ts";
import type { Nursery } from "./sim-supervisor.ts";
import { DATABASE } from "./state-image.ts";

/** Short, so that a frozen worker loses its claim within a few steps. */
const CLAIM_MS = 8_000;
const SETTINGS = { capacity: 3, renewMs: 3_000, loopBlockedMs: 5_000, verdictGraceMs: 2_000 };
const VERSION = "0.0.0-simulated";

export interface HostStage {
  readonly clock: FakeClock;
  readonly file: WorkflowFile;
  readonly nurseryOf: (host: SimHost) => Nursery;
  /** State letter of a process. */
  readonly stateOf: (pid: number) => string;
  readonly crash: (host: SimHost, point: "commit.before" | "commit.after", write: string) => void;
  readonly fault: (text: string) => void;
}

export class SimHost {
  readonly folder: string;
  readonly clock: HostClock;
  readonly capabilities = new Capabilities();
  readonly lease = createLease();
  /** Its connection to the database, for what a disk does to it. */
  readonly db: Database.Database;
  readonly store: Store;
  /** Nothing it says or does counts any more. */
  dead = false;
  /** It has recovered and serves. */
  ready = false;
  epoch = 0;
  readonly #stage: HostStage;
  readonly #nursery: Nursery;
  readonly #supervisor: SimSupervisor;
  #scheduler: Scheduler | undefined;
  #hub: SessionHub | undefined;
  #transport: Transport | undefined;

  constructor(stage: HostStage, folder: string) {
    this.#stage = stage;
    this.folder = folder;
    this.clock = new HostClock(stage.clock);
    this.#nursery = stage.nurseryOf(this);
    this.#supervisor = new SimSupervisor(this.#nursery);
    this.store = openStore({
      path: join(folder, DATABASE),
      clock: this.clock,
      log: hostLog(this.#fault),
      crash: (point, write) => stage.crash(this, point, write),
      onFatal: (error) => this.#fault(`the outcome of a COMMIT is unknown: ${String(error)}`),
    });
    this.db = lastOpened();
  }

  readonly #fault = (text: string): void => {
    if (!this.dead) this.#stage.fault(text);
  };

  get transport(): Transport {
    if (this.#transport === undefined) throw new Error("the host does not serve yet");
    return this.#transport;
  }

  /** As a host starts: recovers, then serves, then begins to work. */
  async begin(): Promise<void> {
    const process = { pid: 4_711, startTime: "100", bootId: "boot", version: VERSION };
    this.epoch = await takeEpoch(this.store, { ...process, startedAt: this.clock.now() });
    const host = this.#context();
    await recover(host, this.#supervisor);
    await detachAll(host);
    if (this.dead) return;
    const hub = new SessionHub(host);
    const scheduler = this.#schedulerOf(host);
    this.#hub = hub;
    this.#scheduler = scheduler;
    hub.start();
    this.#transport = this.#serve(this.#parts(host, hub, scheduler));
    scheduler.start();
    this.ready = true;
  }

  /** The process is gone. */
  die(): void {
    this.dead = true;
    this.ready = false;
    this.clock.die();
    // Only so that nothing of it goes on in memory; what it tells anybody gets nowhere.
    void this.#scheduler?.drain(true);
  }

  /** In order: takes nothing new and ends its workers. Resolves when all of it is stored. */
  async drain(): Promise<void> {
    this.ready = false;
    await this.#scheduler?.drain(true);
    await this.#hub?.stop();
  }

  #context(): HostContext {
    const { clock, epoch, lease, store } = this;
    const log = hostLog(this.#fault);
    const leaseNow = (): number => lease.now();
    return { store, clock, epoch, leaseNow, settings: { claimMs: CLAIM_MS }, log };
  }

  #schedulerOf(host: HostContext): Scheduler {
    return createScheduler({
      host,
      supervisor: this.#supervisor,
      settings: SETTINGS,
      lease: this.lease,
      cacheDir: "/cache",
      probe: {
        stateOf: this.#stage.stateOf,
        cpuMsOf: () => 0,
        bootId: () => "boot",
        changedAt: () => 0,
      },
    });
  }

  #parts(host: HostContext, hub: SessionHub, scheduler: Scheduler): HandlerParts {
    const nursery = this.#nursery;
    const offered = (): ReturnType<Nursery["spawn"]> | undefined =>
      nursery.hasSpare() ? nursery.spawn() : undefined;
    return {
      host,
      live: createLiveRuns(scheduler, this.#supervisor),
      supervisor: this.#supervisor,
      resolver: new SimResolver({ file: this.#stage.file, scheduler, offered }),
      streams: new StreamCount(),
      capabilities: this.capabilities,
      sessions: hub,
      headless: { live: () => [] },
      control: {
        version: VERSION,
        startedAt: this.clock.now(),
        capacity: SETTINGS.capacity,
        retentionMs: 30 * 86_400_000,
        state: () => "serving",
        uptimeMs: () => this.clock.monotonic(),
        shutDown: () => undefined,
      },
    };
  }

  #serve(parts: HandlerParts): Transport {
    const binaryOptions = { recursionLimit: WIRE_DEPTH_MAX };
    const told = (error: unknown): string => {
      // In memory a caller that goes away is told to the host by the error it aborts with.
      const isGone = error instanceof Error && error.name === "AbortError";
      if (!isGone) this.#fault(`a call met an internal error: ${inWords(error)}`);
      return "err_simulated";
    };
    return createRouterTransport((router) => serveAll(router, parts), {
      router: { interceptors: [rejections(told)], binaryOptions },
      transport: { binaryOptions },
    });
  }
}

function inWords(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
