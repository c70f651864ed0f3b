import { chmodSync, closeSync, existsSync, lstatSync, openSync, readSync, rmSync } from "node:fs";
import Database from "better-sqlite3";
import { makeDatabase } from "./make-database.ts";
import { APPLICATION_ID, SCHEMA_NAME, SCHEMA_VERSION } from "./schema.ts";
import type { Schema } from "./schema.ts";
import { StoreRefusedError } from "./store-refused-error.ts";

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
const VERSION_AT = 60;
const APPLICATION_ID_AT = 68;
const SIDE_FILES = ["-wal", "-shm"] as const;

/** A damaged page of a small database is found at once; a large one must not delay the start. */
const CHECKED_BYTES_MAX = 8 * 1024 * 1024;
/** A WAL that a reader once made large shrinks to this when it starts over. */
const WAL_BYTES_KEPT = 16 * 1024 * 1024;
/** 4 MiB: small enough that a checkpoint is never felt. */
const WAL_PAGES_BEFORE_CHECKPOINT = 1000;

export interface DatabaseOptions {
  readonly path: string;
  readonly schema: Schema;
  readonly synchronous: "FULL" | "NORMAL";
}

/**
 * Opens our database, or makes one where there is none. Refuses every other file
 * with StoreRefusedError before a single byte of it or beside it has changed.
 */
export function openDatabase(options: DatabaseOptions): Database.Database {
  const { path, schema, synchronous } = options;
  if (inspectFile(path) === "empty") makeDatabase(options);
  else inspectContent(path, schema);
  // The side files take the mode of the database.
  chmodSync(path, 0o600);
  const db = new Database(path, { timeout: 0 });
  try {
    configure(db, synchronous);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/** Looks at the first bytes without SQLite, which would leave side files next to it. */
function inspectFile(path: string): "empty" | "ours" {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || (stats.isFile() && stats.size === 0)) return "empty";
  if (!stats.isFile()) throw new StoreRefusedError("foreign", path, "is not a regular file");
  const header = readHeader(path);
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC)
    throw new StoreRefusedError(
      "foreign",
      path,
      "is not an SQLite database, or its head is damaged",
    );
  if (header.readInt32BE(APPLICATION_ID_AT) !== APPLICATION_ID)
    throw new StoreRefusedError("foreign", path, "is the database of another program");
  const version = header.readInt32BE(VERSION_AT);
  if (version !== SCHEMA_VERSION) throw otherVersion(path, version);
  return "ours";
}

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, "r");
  try {
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

function otherVersion(path: string, version: number): StoreRefusedError {
  const age = version > SCHEMA_VERSION ? "a newer" : "an older";
  return new StoreRefusedError(
    "other_schema",
    path,
    `was written by ${age} version of pi-workflows (schema ${version}, this one reads ${SCHEMA_VERSION})`,
  );
}

/** Reads the schema's identity through a connection that cannot write. */
function inspectContent(path: string, schema: Schema): void {
  const absent = SIDE_FILES.map((suffix) => path + suffix).filter((file) => !existsSync(file));
  try {
    const db = new Database(path, { readonly: true, fileMustExist: true, timeout: 0 });
    try {
      inspectSchema(db, path, schema);
    } finally {
      db.close();
    }
  } catch (error) {
    // A reader leaves side files behind that were not there before it came.
    for (const file of absent) rmSync(file, { force: true });
    throw error instanceof StoreRefusedError ? error : unreadable(path, error);
  }
}

function inspectSchema(db: Database.Database, path: string, schema: Schema): void {
  const rows = db.prepare<[], { key: string; value: string }>("SELECT key, value FROM meta").all();
  const meta = new Map(rows.map(({ key, value }) => [key, value]));
  if (meta.get("schema_name") !== SCHEMA_NAME || meta.get("ddl_digest") !== schema.digest)
    throw new StoreRefusedError(
      "other_schema",
      path,
      "was written by another build of pi-workflows with other tables",
    );
  if (pageBytes(db) > CHECKED_BYTES_MAX) return;
  const verdict = db.pragma("quick_check(1)", { simple: true });
  if (verdict !== "ok") throw damaged(path, String(verdict));
}

function pageBytes(db: Database.Database): number {
  return (
    Number(db.pragma("page_count", { simple: true })) *
    Number(db.pragma("page_size", { simple: true }))
  );
}

function unreadable(path: string, error: unknown): StoreRefusedError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const words = error instanceof Error ? error.message : String(error);
  if (/^SQLITE_(?:CORRUPT|NOTADB|ERROR)/.test(code)) return damaged(path, words);
  return new StoreRefusedError("unreadable", path, `cannot be read (${words})`, error);
}

function damaged(path: string, words: string): StoreRefusedError {
  return new StoreRefusedError("damaged", path, `is damaged (${words})`);
}

function configure(db: Database.Database, synchronous: "FULL" | "NORMAL"): void {
  expectPragma(db, "journal_mode", { set: "WAL", get: "wal" });
  expectPragma(db, "synchronous", { set: synchronous, get: synchronous === "FULL" ? 2 : 1 });
  expectPragma(db, "foreign_keys", { set: "ON", get: 1 });
  expectPragma(db, "auto_vacuum", { get: 2 });
  // On macOS a plain fsync leaves the data in the drive's cache.
  db.pragma("fullfsync = ON");
  db.pragma("checkpoint_fullfsync = ON");
  db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`);
  db.pragma(`wal_autocheckpoint = ${WAL_PAGES_BEFORE_CHECKPOINT}`);
  db.pragma("trusted_schema = OFF");
  db.pragma("cell_size_check = ON");
}

/** A setting that SQLite did not take is a promise that we could not keep. */
function expectPragma(
  db: Database.Database,
  name: string,
  { set, get }: { readonly set?: string; readonly get: string | number },
): void {
  if (set !== undefined) db.pragma(`${name} = ${set}`);
  const actual = db.pragma(name, { simple: true });
  if (actual !== get)
    throw new Error(`the database's ${name} is ${String(actual)}, and must be ${get}`);
}
