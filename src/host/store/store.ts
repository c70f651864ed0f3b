import { lstatSync } from "node:fs";
import type Database from "better-sqlite3";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { BATCH_WRITES_MAX } from "../limits.ts";
import { backUp } from "./backup.ts";
import type { BackupReport } from "./backup.ts";
import { GroupCommit } from "./group-commit.ts";
import type { StoreChange } from "./store-change.ts";
import { fileId } from "./host-lock.ts";
import { Maintenance } from "./maintenance.ts";
import { openDatabase } from "./open-database.ts";
import { roomRefusal } from "./room.ts";
import { readSchema } from "./schema.ts";
import { openSession } from "./session.ts";
import type { Session } from "./session.ts";
import type { Reader, Tx } from "./tx.ts";

export type { StoreChange } from "./store-change.ts";

export interface StoreOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Further files whose replacement `checkIdentity` notices: the lock. */
  readonly guarded?: readonly string[];
  /** Where a test may end the process; `detail` is the name of the write. */
  readonly crash?: (name: "commit.before" | "commit.after", detail: string) => void;
  /** The outcome of a COMMIT is unknown: the process must end without another answer. */
  readonly onFatal: (error: unknown) => void;
  readonly synchronous?: "FULL" | "NORMAL";
  /** Writes that may share one COMMIT. */
  readonly batchWrites?: number;
}

export interface StoreSizes {
  /** The database as it will be on disk once the log has been written back. */
  readonly databaseBytes: number;
  /** The part of it that nothing uses. */
  readonly freeBytes: number;
  readonly walBytes: number;
}

/** The one database of a state folder. Only the doors call `write`. */
export interface Store {
  readonly reader: Reader;
  readonly storeId: string;
  /** True from a storage error until the next COMMIT that changed a row. */
  readonly stalled: boolean;
  /**
   * Runs the body in a transaction shared with the other writes of this turn of
   * the loop, and resolves after COMMIT. The body is synchronous and may run
   * again after a lock has gone; a throw undoes this write alone.
   */
  write<T>(name: string, body: (tx: Tx) => T): Promise<T>;
  /** Calls the listener after each COMMIT with an event or progress; returns how to stop. */
  subscribe(listener: (change: StoreChange) => void): () => void;
  /**
   * Calls the listener before each COMMIT with an event or progress. It reads what
   * is about to be committed, and what it writes in the call shares the COMMIT.
   */
  beforeCommit(listener: (change: StoreChange) => void): () => void;
  sizes(): StoreSizes;
  /** False when one of the open files is no longer the one at its path. */
  checkIdentity(): boolean;
  /** Copies the database to a new file while writes go on. */
  backup(path: string): Promise<BackupReport>;
  /** One small helping of checkpoint, clean-up and shrinking; does nothing while writes wait. */
  maintain(): void;
  /** Writes what is queued, refuses what comes later, and closes the file. */
  close(): void;
}

/** Opens the database, or makes it; refuses any other with StoreRefusedError, unchanged. */
export function openStore(options: StoreOptions): Store {
  try {
    return open(options);
  } catch (error) {
    throw roomRefusal(options.path, error) ?? error;
  }
}

function open(options: StoreOptions): Store {
  const db = openDatabase({
    path: options.path,
    schema: readSchema(),
    synchronous: options.synchronous ?? "FULL",
  });
  try {
    return new SqliteStore(db, options);
  } catch (error) {
    db.close();
    throw error;
  }
}

class SqliteStore implements Store {
  readonly reader: Reader;
  readonly storeId: string;
  readonly #db: Database.Database;
  readonly #options: StoreOptions;
  readonly #session: Session;
  readonly #commits: GroupCommit;
  readonly #maintenance: Maintenance;
  readonly #listeners = new Set<(change: StoreChange) => void>();
  readonly #joiners = new Set<(change: StoreChange) => void>();
  readonly #identities: ReadonlyMap<string, string | undefined>;

  constructor(db: Database.Database, options: StoreOptions) {
    this.#db = db;
    this.#options = options;
    this.#session = openSession(db, () => options.clock.now());
    this.reader = this.#session.reader;
    this.storeId = this.reader.meta.storeId();
    this.#commits = new GroupCommit({
      db,
      session: this.#session,
      clock: options.clock,
      log: options.log,
      batchWrites: options.batchWrites ?? BATCH_WRITES_MAX,
      crash: options.crash ?? ((): void => {}),
      onFatal: options.onFatal,
      onApplied: (change) => {
        for (const join of this.#joiners) join(change);
      },
      onCommit: (change) => this.#publish(change),
    });
    this.#maintenance = new Maintenance({
      db,
      session: this.#session,
      isStalled: () => this.#commits.stalled,
      log: options.log,
      write: (body) => this.#commits.write("maintain", body),
    });
    // The read of the store id has opened the WAL, which from now on exists until we close.
    this.#identities = new Map(this.#guardedFiles().map((file) => [file, fileId(file)]));
  }

  get stalled(): boolean {
    return this.#commits.stalled;
  }

  write<T>(name: string, body: (tx: Tx) => T): Promise<T> {
    return this.#commits.write(name, body);
  }

  subscribe(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  beforeCommit(listener: (change: StoreChange) => void): () => void {
    this.#joiners.add(listener);
    return () => this.#joiners.delete(listener);
  }

  sizes(): StoreSizes {
    const pageBytes = this.#number("page_size");
    return {
      databaseBytes: pageBytes * this.#number("page_count"),
      freeBytes: pageBytes * this.#number("freelist_count"),
      walBytes: sizeOf(`${this.#options.path}-wal`),
    };
  }

  checkIdentity(): boolean {
    return [...this.#identities].every(([file, identity]) => fileId(file) === identity);
  }

  backup(path: string): Promise<BackupReport> {
    return backUp(this.#db, path);
  }

  maintain(): void {
    if (this.#commits.idle) this.#maintenance.run();
  }

  close(): void {
    if (!this.#db.open) return;
    this.#joiners.clear();
    this.#commits.close();
    this.#listeners.clear();
    this.#db.close();
  }

  #number(pragma: string): number {
    return Number(this.#db.pragma(pragma, { simple: true }));
  }

  #guardedFiles(): readonly string[] {
    const { path, guarded = [] } = this.#options;
    return [path, `${path}-wal`, `${path}-shm`, ...guarded];
  }

  #publish(change: StoreChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        // What is durable stays so, whatever the code that hears of it does.
        this.#options.log.error("store.subscriber_failed", { error: String(error) });
      }
    }
  }
}

function sizeOf(file: string): number {
  return lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
