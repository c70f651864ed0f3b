/** Many runs of all kinds on one state folder, while everything that may go wrong does. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { livingHost } from "../../src/client/host-file.ts";
import { isAlive } from "../../src/platform/process-identity.ts";
import type { ProcessIdentity } from "../../src/platform/process-identity.ts";
import { statePaths } from "../../src/platform/state-folder.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { numbers } from "../support/numbers.ts";
import { Clients, connect } from "./clients.ts";
import type { Chance } from "./kinds.ts";
import { Ledger } from "./ledger.ts";
import { Mischief } from "./mischief.ts";
import type { SoakOptions } from "./options.ts";
import { keepUp, pause } from "./pauses.ts";
import type { Habit } from "./pauses.ts";
import { People } from "./people.ts";
import { Sampler } from "./sampler.ts";
import { Upkeep } from "./upkeep.ts";
import { watchAll } from "./watcher.ts";

const WORKFLOWS = join(import.meta.dirname, "workflows");
/** While this much time is left, people and timers take as long as they like; then less and less. */
const LEISURE_MS = 240_000;
const HURRY_MS = 10_000;
const CLIENTS = 8;
const STARTS_AT_ONCE = 6;
const FEED_MS = 50;
/** What is still under way at the end gets this time; it is longer than any run needs. */
const DRAIN_MS_MAX = 300_000;
/** A run that is looked at so rarely is looked at again: its last state may have asked for too much. */
const ATTEND_MS = 10_000;
const REPEATS_AT_END = 300;
/** Hosts end during the first part; in the rest one of them has time to show whether it grows. */
const DEADLY_SHARE = 0.5;
const DAY_MS = 86_400_000;

export class Soak {
  readonly ledger: Ledger;
  readonly mischief: Mischief;
  readonly upkeep: Upkeep;
  readonly sampler: Sampler;
  /** State and outside world; `close` removes it. */
  readonly folder: string;
  readonly paths: StatePaths;
  readonly retentionMs: number;
  readonly #options: SoakOptions;
  readonly #clients: Clients;
  readonly #people: People;
  readonly #chance: Chance;
  /** No more runs, and nothing goes wrong any more. */
  readonly #enough = new AbortController();
  /** Hosts are left alone. */
  readonly #calm = new AbortController();
  readonly #over = new AbortController();
  #starting = 0;

  constructor(options: SoakOptions, tell: (line: string) => void) {
    this.#options = options;
    const { durationMs, capacity, seed } = options;
    this.folder = mkdtempSync(join(tmpdir(), "soak-"));
    const places = makePlaces(this.folder, { capacity, idleMs: DAY_MS });
    this.paths = places.paths;
    this.#chance = numbers(seed);
    this.ledger = new Ledger(tell);
    this.#clients = new Clients(this.paths, CLIENTS);
    this.sampler = new Sampler(this.paths, this.ledger);
    const shared = { paths: this.paths, clients: this.#clients, ledger: this.ledger };
    const chance = this.#chance;
    const stretch = (): number => {
      const leftMs = Math.max(0, durationMs - this.ledger.nowMs());
      return Math.min(1, (leftMs + HURRY_MS) / LEISURE_MS);
    };
    this.#people = new People({ ...shared, ...places, chance, name: `s${seed}`, pause, stretch });
    const people = this.#people;
    this.retentionMs = between(durationMs / 30, 4_000, 60_000);
    this.upkeep = new Upkeep({
      ...shared,
      people,
      backups: places.backups,
      retentionMs: this.retentionMs,
      everyMs: between(durationMs / 60, 4_000, 20_000),
    });
    this.mischief = new Mischief({
      ...shared,
      people,
      sampler: this.sampler,
      chance,
      workerEndMs: between(durationMs / 100, 3_000, 8_000),
      hostEndMs: between(durationMs / 20, 4_000, 75_000),
      signal: this.#enough.signal,
    });
  }

  /** Lets everything go on for its time, and brings it to an end. */
  async run(): Promise<void> {
    const { durationMs } = this.#options;
    const watching = this.#watch();
    const attending = this.#always({
      name: "look after all runs",
      everyMs: ATTEND_MS,
      act: async () => this.#attendAll(),
    });
    const busy = [
      this.#feed(),
      ...this.mischief.always().map((habit) => this.#keep(habit, this.#enough.signal)),
      ...this.upkeep.habits().map((habit) => this.#keep(habit, this.#enough.signal)),
      ...this.mischief.deadly().map((habit) => this.#keep(habit, this.#calm.signal)),
    ];
    await pause(durationMs * DEADLY_SHARE, this.#enough.signal);
    this.#calm.abort();
    await pause(durationMs * (1 - DEADLY_SHARE), this.#enough.signal);
    this.#enough.abort();
    await Promise.all(busy);
    await this.#drain();
    await this.#finish();
    this.#over.abort();
    await Promise.all([watching, attending]);
  }

  /** Somebody has seen enough: it is brought to its end now. */
  stop(): void {
    this.#calm.abort();
    this.#enough.abort();
  }

  /** Leaves nothing behind, however the soak ended. */
  close(): void {
    this.stop();
    this.#over.abort();
    this.sampler.stop();
    this.#clients.close();
    const host = livingHost(this.paths);
    if (host !== undefined && isAlive(host)) process.kill(host.pid, "SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }

  #always(habit: Habit): Promise<void> {
    return this.#keep(habit, this.#over.signal);
  }

  async #keep({ name, everyMs, act }: Habit, signal: AbortSignal): Promise<void> {
    const minded = async (): Promise<void> => {
      try {
        await act();
      } catch (error) {
        this.ledger.fault(`${name}: ${String(error)}`);
      }
    };
    await keepUp({ name, everyMs, act: minded }, this.#chance, signal);
  }

  async #watch(): Promise<void> {
    try {
      const client = await connect(this.paths);
      await watchAll(client, this.#over.signal, (run) => this.#people.see(run));
      client.close();
    } catch (error) {
      this.ledger.fault(`the watcher: ${String(error)}`);
    }
  }

  /** Keeps as many runs unfinished as were asked for. */
  async #feed(): Promise<void> {
    const { signal } = this.#enough;
    while (!signal.aborted) {
      const isShort = this.ledger.runs.size + this.#starting < this.#options.runs;
      if (isShort && this.#starting < STARTS_AT_ONCE) void this.#startOne();
      else await pause(FEED_MS, signal);
    }
    while (this.#starting > 0) await pause(FEED_MS);
  }

  async #startOne(): Promise<void> {
    this.#starting += 1;
    try {
      await this.#people.start();
    } catch (error) {
      this.ledger.fault(`a start: ${String(error)}`);
    }
    this.#starting -= 1;
  }

  #attendAll(): void {
    for (const run of this.ledger.runs.values()) void this.#people.attend(run);
  }

  async #drain(): Promise<void> {
    const { ledger } = this;
    const deadline = ledger.nowMs() + DRAIN_MS_MAX;
    while (ledger.runs.size > 0 && ledger.nowMs() < deadline) await pause(FEED_MS);
    for (const { key, plan, summary } of ledger.runs.values())
      ledger.fault(`${key} (${plan.kind}) does not end: ${summary?.status} at ${summary?.node}`);
  }

  /** Everything acknowledged still holds, nothing is left, and the host stops in order. */
  async #finish(): Promise<void> {
    const { ledger, upkeep } = this;
    await upkeep.diagnose();
    await upkeep.doctor();
    await upkeep.prune(0);
    await this.#people.repeat(REPEATS_AT_END);
    const { runs } = await this.#clients.ask((client) => client.runs.listRuns({}));
    if (runs.length > 0) ledger.fault(`${runs.length} runs are left after the last prune`);
    this.sampler.stop();
    const host = livingHost(this.paths);
    this.#over.abort();
    await this.#clients.ask((client) => client.host.shutdown({}));
    if (host !== undefined) await untilGone(host);
    for (const left of upkeep.leftovers()) ledger.fault(`${left} is left`);
  }
}

async function untilGone(host: ProcessIdentity): Promise<void> {
  while (isAlive(host)) await pause(FEED_MS);
}

interface Places {
  readonly paths: StatePaths;
  readonly project: string;
  readonly outside: string;
  readonly backups: string;
}

function makePlaces(folder: string, settings: Readonly<Record<string, number>>): Places {
  const place = (name: string): string => {
    const path = join(folder, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  };
  const state = place("state");
  const project = place("project");
  cpSync(WORKFLOWS, project, { recursive: true });
  writeFileSync(join(state, "settings.json"), JSON.stringify(settings));
  const paths = statePaths({ ...process.env, PI_WORKFLOWS_HOME: state });
  return { paths, project, outside: place("outside"), backups: place("backups") };
}

function between(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
