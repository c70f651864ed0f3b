/** Workers of one host, without processes. */
import type { Supervisor } from "../../src/host/supervisor/supervisor.ts";
import { SpawnFailed } from "../../src/host/supervisor/supervised-worker.ts";
import type { SupervisedWorker } from "../../src/host/supervisor/supervised-worker.ts";
import type { SimWorker } from "./sim-worker.ts";

export interface Nursery {
  /** A new process. */
  spawn(): SimWorker;
  /** Whether the next process fails before it is of use. */
  failsToSpawn(): boolean;
  /** Whether a spare is there. */
  hasSpare(): boolean;
  find(workerId: string): SimWorker | undefined;
  /** Processes of this host that are not gone. */
  living(): readonly SimWorker[];
  /** Ends everything that earlier hosts left; returns how many that were. */
  reap(): number;
}

type Part = Pick<
  Supervisor,
  | "acquire"
  | "acquireReady"
  | "remember"
  | "endTree"
  | "reap"
  | "live"
  | "readLog"
  | "followLog"
  | "removeLogs"
>;

const NO_OUTPUT = {
  head: new Uint8Array(),
  tail: new Uint8Array(),
  droppedBytes: 0,
  totalBytes: 0,
};

export class SimSupervisor implements Part {
  readonly #nursery: Nursery;

  constructor(nursery: Nursery) {
    this.#nursery = nursery;
  }

  async acquire(): Promise<SupervisedWorker> {
    await Promise.resolve();
    if (this.#nursery.failsToSpawn()) throw new SpawnFailed("handshake", "it did not say hello");
    return this.#nursery.spawn();
  }

  acquireReady(): SupervisedWorker | undefined {
    return this.#nursery.hasSpare() ? this.#nursery.spawn() : undefined;
  }

  remember(): void {
    // Spares are loaded in no time here.
  }

  endTree({ workerId }: { readonly workerId: string }): Promise<void> {
    const worker = this.#nursery.find(workerId);
    if (worker === undefined || worker.gone) return Promise.resolve();
    worker.signalled();
    return new Promise((resolve) => {
      worker.onEnd(() => resolve());
    });
  }

  async reap(): Promise<{ readonly workers: readonly string[]; readonly processes: number }> {
    await Promise.resolve();
    return { workers: [], processes: this.#nursery.reap() };
  }

  live(): readonly SupervisedWorker[] {
    return this.#nursery.living();
  }

  readLog(): typeof NO_OUTPUT {
    return NO_OUTPUT;
  }

  // eslint-disable-next-line require-yield
  async *followLog(): AsyncGenerator<never> {
    await Promise.resolve();
  }

  removeLogs(): number {
    return 0;
  }
}
