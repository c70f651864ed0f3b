/** What a host does for its own state while nobody asks for anything. */
import type { Clock, Timer } from "../platform/clock.ts";
import { newId, sha256Hex } from "../platform/ids.ts";
import type { HostContext } from "./context.ts";
import type { Activity } from "./activity.ts";
import {
  IDENTITY_CHECK_MS,
  IDLE_CHECK_MS,
  MAINTENANCE_MS,
  SWEEP_CHECK_MS,
  WAL_BYTES_NOTED,
} from "./limits.ts";
import { pruneRuns } from "./operations/retention.ts";
import { nextDue } from "./operations/timers.ts";
import type { Supervisor } from "./supervisor/supervisor.ts";

export interface HousekeepingOptions {
  readonly host: HostContext;
  readonly supervisor: Pick<Supervisor, "removeLogs">;
  readonly activity: Activity;
  readonly idleMs: number;
  /** Terminal runs that ended longer ago go in the daily sweep. */
  readonly retentionMs: number;
  /** Runs that have a place, or are being started. */
  readonly isWorking: () => boolean;
  readonly openStreams: () => number;
  readonly checkIdentity: () => void;
  readonly onIdle: () => void;
}

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #timers: readonly Timer[];
  #sweeping: Promise<void> | undefined;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
    const { clock } = options.host;
    this.#timers = [
      clock.every(IDLE_CHECK_MS, () => this.#endWhenIdle()),
      clock.every(IDENTITY_CHECK_MS, options.checkIdentity),
      clock.every(MAINTENANCE_MS, () => this.#maintain()),
      clock.every(SWEEP_CHECK_MS, () => this.#beginSweep()),
    ];
  }

  /** Does nothing more, and resolves when nothing of it touches the state any more. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    await this.#sweeping;
  }

  #endWhenIdle(): void {
    const { activity, idleMs, host } = this.#options;
    // Whoever waits for a time needs a host that is there when it comes.
    const isNeeded =
      this.#options.isWorking() ||
      this.#options.openStreams() > 0 ||
      host.store.reader.runs.hasActive() ||
      nextDue(host) !== undefined;
    if (isNeeded) activity.touch();
    else if (activity.quietMs() >= idleMs) this.#options.onIdle();
  }

  #maintain(): void {
    const { store, log } = this.#options.host;
    store.maintain();
    const { walBytes } = store.sizes();
    if (walBytes > WAL_BYTES_NOTED) log.warn("store.wal_large", { walBytes });
  }

  #beginSweep(): void {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
  }

  /** Once a day, whichever hosts serve that day; not while runs execute. */
  async #sweep(): Promise<void> {
    const { host, retentionMs: olderThanMs } = this.#options;
    if (this.#options.isWorking()) return;
    const key = `sweep-${dayOf(host.clock)}`;
    if (host.store.reader.commands.get(key) !== undefined) return;
    const command = { requestId: newId("req"), key, client: "host" };
    const asked = { command, method: "Prune", fingerprint: sha256Hex(key) };
    try {
      const { extra } = await pruneRuns(host, asked, { olderThanMs, dryRun: false });
      const isKnown = (id: string): boolean => host.store.reader.workers.get(id) !== undefined;
      const outputFiles = this.#options.supervisor.removeLogs(isKnown);
      host.log.info("sweep.done", { ...extra, outputFiles });
    } catch (error) {
      // Nobody waits for it: a full disk or a folder that cannot be read is tried again next round.
      host.log.warn("sweep.failed", { error });
    }
  }
}

function dayOf(clock: Clock): string {
  return new Date(clock.now()).toISOString().slice(0, "2025-01-01".length);
}
