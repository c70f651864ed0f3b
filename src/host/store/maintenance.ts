import type Database from "better-sqlite3";
import type { Log } from "../../platform/log.ts";
import type { Session } from "./session.ts";
import type { Tx } from "./tx.ts";

/** Bounds of one helping, so that no write waits noticeably for it. */
const BLOBS_PER_RUN = 200;
const FREED_PAGES_PER_RUN = 1000; // 4 MiB

export interface MaintenanceOptions {
  readonly db: Database.Database;
  readonly session: Pick<Session, "blobs" | "probe">;
  readonly isStalled: () => boolean;
  readonly log: Log;
  readonly write: (body: (tx: Tx) => unknown) => Promise<unknown>;
}

/** Keeps the files small, a little at a time. */
export class Maintenance {
  readonly #options: MaintenanceOptions;
  /** Where the search for blobs that nothing names goes on. */
  #cursor = "";

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  run(): void {
    const { db, log, session, isStalled } = this.#options;
    // Where nobody writes, nobody would notice that the storage is well again.
    if (isStalled()) this.#write(session.probe);
    try {
      db.pragma("wal_checkpoint(PASSIVE)");
      db.pragma(`incremental_vacuum(${FREED_PAGES_PER_RUN})`);
      db.pragma("optimize");
    } catch (error) {
      // Nobody waits for this; the next helping comes soon.
      log.warn("store.maintenance_failed", { error: String(error) });
    }
    this.#collectBlobs();
  }

  #collectBlobs(): void {
    const { blobs } = this.#options.session;
    const digests = blobs.after(this.#cursor, BLOBS_PER_RUN);
    this.#cursor = digests.at(-1) ?? "";
    if (digests.length === 0) return;
    this.#write(() => blobs.collect(digests));
  }

  #write(body: () => unknown): void {
    const { log, write } = this.#options;
    write(body).catch((error: unknown) =>
      log.warn("store.maintenance_failed", { error: String(error) }),
    );
  }
}
