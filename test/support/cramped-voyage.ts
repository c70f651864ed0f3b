/**
 * A client on a disk that is full whenever it asks for something. There is room again once the host
 * has noticed; what was refused is asked again under its key, and what the host could not write by
 * itself it must write by itself.
 */
import Database from "better-sqlite3";
import { setTimeout as sleep } from "node:timers/promises";
import { isRejectedFor } from "../../src/client/rejection.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import type { RealHost } from "./real-host.ts";
import { SmallDisk } from "./small-disk.ts";
import { Voyage } from "./voyage.ts";
import type { CleanUp } from "./real-host.ts";

const DISK_MB = 16;
const LOOK_MS = 10;

export class CrampedVoyage extends Voyage {
  /** Calls that were refused because the disk was full. */
  refused = 0;
  /** Times that the host met the full disk in a call or behind it. */
  stalled = 0;
  readonly #disk: SmallDisk;
  readonly #cleanUp: CleanUp;
  #pinned: RealHost | undefined;

  constructor(cleanUp: CleanUp) {
    const disk = new SmallDisk(cleanUp, DISK_MB);
    super({ cleanUp, state: disk.folder });
    this.#disk = disk;
    this.#cleanUp = cleanUp;
  }

  override ask<T>(call: (host: RealHost) => Promise<T>): Promise<T> {
    return super.ask(async (host) => {
      this.#pin(host);
      this.#disk.fill();
      const done = new AbortController();
      const watched = this.#freeWhenStalled(host, done.signal);
      try {
        return await this.#untilTaken(() => call(host));
      } finally {
        done.abort();
        await watched;
        this.#disk.free();
      }
    });
  }

  async #untilTaken<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!isRejectedFor(error, Reason.STORAGE_FULL)) throw error;
        this.refused += 1;
        this.#disk.free();
      }
    }
  }

  async #freeWhenStalled({ host }: RealHost, done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      const state = await host.getStatus({}).then(
        (status) => status.state,
        () => "gone",
      );
      if (state === "storage_stalled") {
        this.stalled += 1;
        this.#disk.free();
        return;
      }
      await sleep(LOOK_MS);
    }
  }

  /** A reader that stays lets the log only grow: from then on every COMMIT needs room. */
  #pin(host: RealHost): void {
    if (this.#pinned === host) return;
    this.#pinned = host;
    const reader = new Database(host.paths.database, { readonly: true });
    this.#cleanUp(() => void reader.close());
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM runs").get();
  }
}
