/** Programs that want something of the host, a few at a time, each with a connection of its own. */
import { join } from "node:path";
import { connectHost } from "../../src/client/host-client.ts";
import type { HostClient } from "../../src/client/host-client.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";

const HOST_ENTRY = join(import.meta.dirname, "../../dist/host.cjs");
/** On a busy machine the next host may take so long to recover. */
const BUDGET_MS = 90_000;

/** A connection that finds the next host when one has gone, and starts it where nobody has. */
export function connect(paths: StatePaths): Promise<HostClient> {
  return connectHost({ paths, startHost: true, hostEntry: HOST_ENTRY, budgetMs: BUDGET_MS });
}

export class Clients {
  readonly #paths: StatePaths;
  readonly #free: HostClient[] = [];
  readonly #waiting: ((client: HostClient) => void)[] = [];
  #places: number;

  constructor(paths: StatePaths, count: number) {
    this.#paths = paths;
    this.#places = count;
  }

  /** Asks until it is answered, whichever host then serves. */
  async ask<T>(call: (client: HostClient) => Promise<T>): Promise<T> {
    const client = await this.#take();
    try {
      return await client.call(call);
    } finally {
      this.#giveBack(client);
    }
  }

  close(): void {
    for (const client of this.#free.splice(0)) client.close();
  }

  async #take(): Promise<HostClient> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#places > 0) {
      this.#places -= 1;
      return await this.#open();
    }
    return await new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  async #open(): Promise<HostClient> {
    try {
      return await connect(this.#paths);
    } catch (error) {
      this.#places += 1;
      throw error;
    }
  }

  #giveBack(client: HostClient): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(client);
    else next(client);
  }
}
