/** The one way for programs to talk to a host: generated clients that find, start and find again. */
import { createClient } from "@connectrpc/connect";
import type { Client, Transport } from "@connectrpc/connect";
import { EffectService } from "../gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostService } from "../gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RunService } from "../gen/piworkflows/host/v1/run_service_pb.ts";
import { SessionService } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import { systemClock } from "../platform/clock.ts";
import type { Clock } from "../platform/clock.ts";
import type { StatePaths } from "../platform/state-folder.ts";
import { frozenHost, reachHost, sleep } from "./reach-host.ts";
import type { ReachOptions } from "./reach-host.ts";
import { isHostGone } from "./rejection.ts";
import { openHostLink } from "./transport.ts";
import type { HostLink } from "./transport.ts";

export interface ConnectOptions {
  readonly paths: StatePaths;
  /** Whether a host is started when none answers. */
  readonly startHost: boolean;
  /** Path of the host's program, `dist/host.cjs`. */
  readonly hostEntry: string;
  /** How long a call may look for a host before it gives up. */
  readonly budgetMs?: number;
  /** How long a host that was started may take to listen, when that is longer. */
  readonly startMs?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  /** Told when a host is being started. */
  readonly onStart?: () => void;
  /** A host that answers no PING for as long is taken for dead; absent means never. */
  readonly pingMs?: number;
}

export interface HostClient {
  readonly runs: Client<typeof RunService>;
  readonly interactions: Client<typeof InteractionService>;
  readonly effects: Client<typeof EffectService>;
  readonly sessions: Client<typeof SessionService>;
  readonly host: Client<typeof HostService>;
  /**
   * Runs `fn` until it is answered, as long as the host went away or is going
   * and the budget lasts. `fn` is called again with nothing changed, so it must
   * send the same request with the same key.
   */
  call<Result>(fn: (client: HostClient) => Promise<Result>): Promise<Result>;
  /** Finds the host again, for streams that broke. Starts one only if `startHost` says so. */
  reconnect(how: { readonly startHost: boolean }): Promise<void>;
  close(): void;
}

/** Enough for a host to stop, and for another to start and recover. */
const BUDGET_MS = 15_000;
/** A host on a machine with much else to do is slow to load, and is still the one that is wanted. */
const START_MS = 60_000;
/** A host that is stopping gets this time before it is asked again. */
const STOPPING_PAUSE_MS = 50;
/** How often a call that has no answer yet looks whether the host runs at all. */
const FROZEN_CHECK_MS = 2_000;

/** Connects to the host of a state folder, starting one on demand. */
export async function connectHost(options: ConnectOptions): Promise<HostClient> {
  const connection = new Connection(options);
  await connection.open(connection.deadline());
  return connection;
}

class Connection implements HostClient {
  readonly runs: Client<typeof RunService>;
  readonly interactions: Client<typeof InteractionService>;
  readonly effects: Client<typeof EffectService>;
  readonly sessions: Client<typeof SessionService>;
  readonly host: Client<typeof HostService>;
  readonly #options: ConnectOptions;
  readonly #reach: ReachOptions;
  #link: HostLink | undefined;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#reach = {
      paths: options.paths,
      startHost: options.startHost,
      hostEntry: options.hostEntry,
      clock: options.clock ?? systemClock,
      signal: options.signal,
      onStart: options.onStart,
      startMs: options.startMs ?? START_MS,
    };
    const transport = this.#transport();
    this.runs = createClient(RunService, transport);
    this.interactions = createClient(InteractionService, transport);
    this.effects = createClient(EffectService, transport);
    this.sessions = createClient(SessionService, transport);
    this.host = createClient(HostService, transport);
  }

  deadline(): number {
    return this.#reach.clock.monotonic() + (this.#options.budgetMs ?? BUDGET_MS);
  }

  async open(deadline: number, startHost = this.#reach.startHost): Promise<void> {
    this.#link?.close();
    this.#link = undefined;
    const { socketPath, socket } = await reachHost({ ...this.#reach, startHost }, deadline);
    const { pingMs } = this.#options;
    this.#link = openHostLink({ socketPath, socket, ...(pingMs === undefined ? {} : { pingMs }) });
  }

  async call<Result>(fn: (client: HostClient) => Promise<Result>): Promise<Result> {
    let deadline: number | undefined;
    for (;;) {
      const watch = this.#reach.clock.every(FROZEN_CHECK_MS, () => this.#leaveIfFrozen());
      try {
        return await fn(this);
      } catch (error) {
        if (!isHostGone(error)) throw error;
        this.#options.signal?.throwIfAborted();
        const frozen = frozenHost(this.#options.paths);
        if (frozen !== undefined) throw frozen;
        deadline ??= this.deadline();
        if (this.#reach.clock.monotonic() >= deadline) throw error;
        await sleep(this.#reach.clock, STOPPING_PAUSE_MS);
        await this.open(deadline);
      } finally {
        watch.cancel();
      }
    }
  }

  async reconnect({ startHost }: { readonly startHost: boolean }): Promise<void> {
    await this.open(this.deadline(), startHost);
  }

  close(): void {
    this.#link?.close();
    this.#link = undefined;
  }

  /** A stopped process takes connections and answers nothing; nobody needs to wait to know that. */
  #leaveIfFrozen(): void {
    if (frozenHost(this.#options.paths) !== undefined) this.#link?.close();
  }

  /** The clients are made once; the connection below them may change. */
  #transport(): Transport {
    const current = (): Transport => {
      this.#link ??= openHostLink({ socketPath: this.#options.paths.socket });
      return this.#link.transport;
    };
    return {
      unary: (...call) => current().unary(...call),
      stream: (...call) => current().stream(...call),
    };
  }
}
