import { createHash } from "node:crypto";
import { closeSync, createReadStream, openSync, rmSync } from "node:fs";
import Database from "better-sqlite3";
import { newId } from "../../platform/ids.ts";
import { HostError } from "../errors.ts";
import { storageCode } from "./storage-error.ts";

/** Copied in one turn of the loop. */
const STEP_PAGES = 100;

export interface BackupReport {
  readonly bytes: number;
  /** SHA-256 of the copy, in hexadecimal. */
  readonly digest: string;
}

/**
 * Copies the database to a file that must not exist yet, readable by its owner
 * only. Writes go on meanwhile and are in the copy. What fails leaves no file.
 *
 * The digest is read from the copy: our own database may never be opened by
 * other means than SQLite, since closing it again would drop SQLite's locks.
 */
export async function backUp(db: Database.Database, path: string): Promise<BackupReport> {
  reserve(path);
  try {
    await db.backup(path, { progress: largerAfterRestart() });
    becomeAnother(path);
    return await digestOf(path);
  } catch (error) {
    for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
    throw refusalFor(error, path);
  }
}

/**
 * The copy is a store of its own. Restored, it goes on differently from here, and a
 * reader that comes back with a place in the one must not take it for a place in the other.
 */
function becomeAnother(path: string): void {
  const copy = new Database(path, { timeout: 0 });
  try {
    copy.prepare("UPDATE meta SET value = ? WHERE key = 'store_id'").run(newId("str"));
  } finally {
    copy.close();
  }
}

/**
 * Small steps, between which the host goes on. What another program writes meanwhile makes SQLite
 * begin the copy anew; whoever writes without a pause would keep it from ever ending.
 */
function largerAfterRestart(): (progress: Database.BackupMetadata) => number {
  let pages = STEP_PAGES;
  let before = 0;
  return ({ totalPages, remainingPages }) => {
    const copied = totalPages - remainingPages;
    if (copied <= before) pages *= 2;
    before = copied;
    return pages;
  };
}

function reserve(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (isFull(error)) throw refusalFor(error, path);
    const words = error instanceof Error ? error.message : String(error);
    throw new HostError("REQUEST_INVALID", `a backup needs a new file: ${words}`);
  }
}

/** The copy's disk need not be the state's: its trouble is told with its path. */
function refusalFor(error: unknown, path: string): unknown {
  if (isFull(error)) {
    const message = `the disk of ${path} is full and no copy was written; choose another place`;
    return new HostError("STORAGE_FULL", message);
  }
  const code = storageCode(error);
  if (code === undefined) return error;
  return new HostError("STORAGE_FAILED", `no copy was written to ${path}: SQLITE_${code}`);
}

function isFull(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ENOSPC" || storageCode(error) === "FULL";
}

async function digestOf(path: string): Promise<BackupReport> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, digest: hash.digest("hex") };
}
