/** What goes wrong on a machine: processes die, stand still and are stopped; clients come and go. */
import { livingHost } from "../../src/client/host-file.ts";
import { identityOf, isAlive } from "../../src/platform/process-identity.ts";
import type { ProcessIdentity } from "../../src/platform/process-identity.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import type { HostClient } from "../../src/client/host-client.ts";
import { connect } from "./clients.ts";
import type { Clients } from "./clients.ts";
import { upTo } from "./kinds.ts";
import type { Chance } from "./kinds.ts";
import type { KnownRun, Ledger } from "./ledger.ts";
import { pause } from "./pauses.ts";
import type { Habit } from "./pauses.ts";
import type { People } from "./people.ts";
import type { Sampler } from "./sampler.ts";

export const DEEDS = [
  "worker killed",
  "worker frozen",
  "host killed",
  "host stopped",
  "client dropped",
  "run cancelled",
  "run paused",
] as const;
export type DeedName = (typeof DEEDS)[number];

export interface Deed {
  readonly atMs: number;
  readonly name: DeedName;
}

export interface MischiefOptions {
  readonly paths: StatePaths;
  readonly clients: Clients;
  readonly ledger: Ledger;
  readonly people: People;
  readonly sampler: Sampler;
  readonly chance: Chance;
  /** How often a worker is killed and another frozen, on average. */
  readonly workerEndMs: number;
  /** How often a host ends, on average. */
  readonly hostEndMs: number;
  /** Ends what lasts a while. */
  readonly signal: AbortSignal;
}

/** Without spares no run gets a worker, and nothing is under way that could be lost. */
const SPARE_SHARE = 0.15;
const FROZEN_MS_MAX = 6_000;
const WATCHED_MS_MAX = 10_000;
const WATCHERS_MAX = 12;
/** An orderly stop gives effects ten seconds, and a busy machine takes its time. */
const STOP_MS_MAX = 60_000;
const LOOK_MS = 50;

export class Mischief {
  readonly deeds: Deed[] = [];
  readonly #options: MischiefOptions;
  #watchers = 0;

  constructor(options: MischiefOptions) {
    this.#options = options;
  }

  /** What may happen at any time. */
  always(): readonly Habit[] {
    const rare = this.#options.workerEndMs;
    return [
      { name: "kill a worker", everyMs: rare, act: () => this.#killWorker() },
      { name: "freeze a worker", everyMs: rare, act: () => this.#freezeWorker() },
      { name: "cancel", everyMs: 12_000, act: () => this.#disturb("cancel") },
      { name: "pause", everyMs: 5_000, act: () => this.#disturb("pause") },
      { name: "watch", everyMs: 2_000, act: async () => this.#watchForATime() },
      { name: "ask again", everyMs: 3_000, act: () => this.#options.people.repeat(2) },
    ];
  }

  /** What no host survives. */
  deadly(): readonly Habit[] {
    const everyMs = this.#options.hostEndMs * 2;
    return [
      { name: "kill the host", everyMs, act: () => this.#endHost("host killed") },
      { name: "stop the host", everyMs, act: () => this.#endHost("host stopped") },
    ];
  }

  count(name: DeedName): number {
    return this.deeds.filter((deed) => deed.name === name).length;
  }

  #note(name: DeedName): void {
    this.deeds.push({ atMs: this.#options.ledger.nowMs(), name });
  }

  async #killWorker(): Promise<void> {
    const worker = await this.#someWorker();
    if (worker !== undefined && send(worker, "SIGKILL")) this.#note("worker killed");
  }

  async #freezeWorker(): Promise<void> {
    const { chance, signal } = this.#options;
    const worker = await this.#someWorker();
    if (worker === undefined || !send(worker, "SIGSTOP")) return;
    this.#note("worker frozen");
    await pause(upTo(chance, FROZEN_MS_MAX), signal);
    send(worker, "SIGCONT");
  }

  /** One that executes a run; now and then any, for whoever kills processes does not know their use. */
  async #someWorker(): Promise<ProcessIdentity | undefined> {
    const { clients, chance } = this.#options;
    const { workers } = await clients.ask(({ host }) => host.getStatus({}));
    const anyOne = chance() < SPARE_SHARE;
    const alive = workers.filter(({ pid, runId }) => pid > 0 && (anyOne || runId !== ""));
    const picked = alive[upTo(chance, alive.length)];
    return picked === undefined ? undefined : identityOf(picked.pid);
  }

  async #endHost(name: "host killed" | "host stopped"): Promise<void> {
    const { paths, sampler, chance, clients, ledger } = this.#options;
    const host = livingHost(paths);
    if (host === undefined || sampler.ending.has(host.pid)) return;
    sampler.ending.add(host.pid);
    this.#note(name);
    if (name === "host killed") send(host, "SIGKILL");
    else if (chance() < 0.5) send(host, "SIGTERM");
    else sampler.ending.add((await clients.ask((client) => client.host.shutdown({}))).pid);
    const deadline = ledger.nowMs() + STOP_MS_MAX;
    while (isAlive(host) && ledger.nowMs() < deadline) await pause(LOOK_MS);
    if (isAlive(host)) ledger.fault(`the host ${host.pid} does not stop`);
  }

  async #disturb(what: "cancel" | "pause"): Promise<void> {
    const { ledger, people } = this.#options;
    const run = this.#someRun([...ledger.runs.values()]);
    if (run === undefined) return;
    await people.disturb(run, what);
    this.#note(what === "cancel" ? "run cancelled" : "run paused");
  }

  #someRun(runs: readonly KnownRun[]): KnownRun | undefined {
    return runs[upTo(this.#options.chance, runs.length)];
  }

  #watchForATime(): void {
    if (this.#watchers >= WATCHERS_MAX) return;
    this.#watchers += 1;
    void this.#watch()
      .catch((error: unknown) => this.#options.ledger.fault(`a watcher: ${String(error)}`))
      .finally(() => {
        this.#watchers -= 1;
      });
  }

  /** A client that looks at something and is gone without a word. */
  async #watch(): Promise<void> {
    const { paths, chance, signal } = this.#options;
    const client = await connect(paths);
    const gone = new AbortController();
    const streams = this.#streams(client, gone.signal).map(async (stream) => {
      try {
        for await (const _ of stream) if (gone.signal.aborted) return;
      } catch {
        // Its connection was cut, by itself or by the end of a host: that is what it is for.
      }
    });
    await pause(upTo(chance, WATCHED_MS_MAX), signal);
    if (chance() < 0.5) gone.abort();
    client.close();
    await Promise.all(streams);
    this.#note("client dropped");
  }

  #streams({ runs }: HostClient, signal: AbortSignal): readonly AsyncIterable<unknown>[] {
    const { ledger } = this.#options;
    const all = runs.watchRuns({}, { signal });
    const run = this.#someRun([...ledger.runs.values()]);
    if (run === undefined) return [all];
    const { runId } = run;
    const log = runs.readRunLog({ runId, follow: true }, { signal });
    return [all, runs.watchRun({ runId }, { signal }), log];
  }
}

/** False when that very process has ended. */
function send(target: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(target)) return false;
  try {
    return process.kill(target.pid, signal);
  } catch {
    // It ended between the look and the signal.
    return false;
  }
}
