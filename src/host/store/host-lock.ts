/**
 * The one lock of a state folder: an exclusive transaction on a database of its
 * own, held for life. The kernel gives it back when the process ends, however it
 * ends. Nothing else in this process may ever open that file: closing any
 * descriptor of it would silently drop the lock.
 */
import { lstatSync } from "node:fs";
import Database from "better-sqlite3";

export interface HostLock {
  /** False once the file at the path is not the one that is locked. */
  isSame(): boolean;
  release(): void;
}

/** The lock, or nothing when another process holds it. Throws on a file that is no lock. */
export function takeHostLock(path: string): HostLock | undefined {
  refuseForeign(path);
  const database = new Database(path, { timeout: 0 });
  try {
    // Nothing is ever written, so there is nothing to keep a journal file of.
    database.pragma("journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  const taken = fileId(path);
  return {
    isSame: () => taken !== undefined && taken === fileId(path),
    release: () => database.close(),
  };
}

/** Device and inode; absent when nothing is there. Asks the path, never opens it. */
export function fileId(path: string): string | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}

/** Behind a link the lock would be another folder's. */
function refuseForeign(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  throw new Error(`${path} is not a regular file; move it away`);
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
}
