import type Database from "better-sqlite3";
import { storageCode } from "./storage-error.ts";

/**
 * A try takes some 10 µs. SQLite's lock has no queue: whoever commits without a pause frees it for
 * microseconds only, and one look now and then meets that moment twice in a hundred times.
 */
const BEGIN_TRIES = 200;

/** The statements around a batch, and around each write in it. */
export class Transaction {
  readonly #db: Database.Database;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #rollback: Database.Statement;
  readonly #save: Database.Statement;
  readonly #release: Database.Statement;
  readonly #undo: Database.Statement;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
    this.#rollback = db.prepare("ROLLBACK");
    this.#save = db.prepare("SAVEPOINT one");
    this.#release = db.prepare("RELEASE one");
    this.#undo = db.prepare("ROLLBACK TO one");
  }

  /** True for what ends the whole batch: SQLite may have rolled back by itself, or has. */
  isEndedBy(error: unknown): boolean {
    return storageCode(error) !== undefined || !this.#db.inTransaction;
  }

  /**
   * Takes the write lock, by a burst of tries that is short enough for nobody to notice the loop
   * being held. Throws SQLITE_BUSY when another program held the lock all the while.
   */
  begin(): void {
    for (let tries = 1; ; tries += 1) {
      try {
        this.#begin.run();
        return;
      } catch (error) {
        if (tries === BEGIN_TRIES || storageCode(error) !== "BUSY") throw error;
      }
    }
  }

  commit(): void {
    this.#commit.run();
  }

  /** Does nothing where SQLite has rolled back already. */
  rollback(): void {
    if (this.#db.inTransaction) this.#rollback.run();
  }

  save(): void {
    this.#save.run();
  }

  release(): void {
    this.#release.run();
  }

  /** Takes back what was written since save(). */
  undo(): void {
    this.#undo.run();
    this.#release.run();
  }
}
