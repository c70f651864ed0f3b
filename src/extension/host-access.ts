/** Clients for the tool and the command, each call on a connection of its own with its own signal. */
import { connectHost } from "../client/host-client.ts";
import type { HostClient } from "../client/host-client.ts";
import type { StatePaths } from "../platform/state-folder.ts";
import type { HostClients } from "./session-link.ts";

/** So long a call looks for a host that went away. */
const BUDGET_MS = 15_000;

export interface HostAccessOptions {
  readonly paths: StatePaths;
  readonly hostEntry: string;
  /** False in a headless run's own Pi: it lives by the host that started it, and ends with it. */
  readonly mayStartHost: boolean;
  /** What the session's attachment adds. */
  readonly attached: () => Pick<HostClients, "attachmentId" | "capability">;
  /** Told that a host answers. */
  readonly onReached: () => Promise<void>;
}

export class HostAccess {
  readonly #options: HostAccessOptions;
  #shared: HostClient | undefined;

  constructor(options: HostAccessOptions) {
    this.#options = options;
  }

  /** Connected clients that stay: for streams, and for calls that bring their own signal. */
  async host(signal: AbortSignal | undefined): Promise<HostClients> {
    const client = await this.#reachShared(signal);
    await this.#options.onReached();
    signal?.throwIfAborted();
    return this.#clients(client);
  }

  async call<Result>(
    run: (clients: HostClients) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const client = await this.connect({ startHost: true, signal });
    try {
      await this.#options.onReached();
      return await client.call(async (again) => await run(this.#clients(again)));
    } finally {
      client.close();
    }
  }

  async connect(how: {
    readonly startHost: boolean;
    readonly signal: AbortSignal | undefined;
  }): Promise<HostClient> {
    const { paths, hostEntry, mayStartHost } = this.#options;
    const { signal } = how;
    const startHost = how.startHost && mayStartHost;
    return await connectHost({
      paths,
      hostEntry,
      startHost,
      budgetMs: BUDGET_MS,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  close(): void {
    this.#shared?.close();
    this.#shared = undefined;
  }

  /** The connection may have broken since it was used last. */
  async #reachShared(signal: AbortSignal | undefined): Promise<HostClient> {
    const client = this.#shared;
    if (client !== undefined && (await answers(client, signal))) return client;
    signal?.throwIfAborted();
    client?.close();
    this.#shared = await this.connect({ startHost: true, signal });
    return this.#shared;
  }

  #clients(client: HostClient): HostClients {
    const { runs, interactions, sessions, effects, host } = client;
    return {
      runs,
      interactions,
      sessions,
      effects,
      hostService: host,
      ...this.#options.attached(),
    };
  }
}

async function answers(client: HostClient, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await client.host.getStatus({}, { timeoutMs: BUDGET_MS, ...(signal ? { signal } : {}) });
    return true;
  } catch {
    // Gone, going or too slow: another connection will say which.
    return false;
  }
}
