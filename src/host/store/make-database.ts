/** A new database: whole at its path, or not there at all. */
import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import Database from "better-sqlite3";
import { newId } from "../../platform/ids.ts";
import { APPLICATION_ID, SCHEMA_NAME, SCHEMA_VERSION } from "./schema.ts";
import type { Schema } from "./schema.ts";

const SIDE_FILES = ["-journal", "-wal", "-shm"] as const;

export interface MakeOptions {
  readonly path: string;
  readonly schema: Schema;
  readonly synchronous: "FULL" | "NORMAL";
}

/**
 * Makes it beside its place and moves it there when it is complete. SQLite itself
 * writes the first page of a new file before any transaction of ours: whoever dies
 * then, or finds no room, would leave a file that looks like another program's.
 */
export function makeDatabase({ path, schema, synchronous }: MakeOptions): void {
  const draft = `${path}.new`;
  // What a start left that came to nothing.
  remove(draft);
  try {
    closeSync(openSync(draft, "wx", 0o600));
    const db = new Database(draft, { timeout: 0 });
    try {
      db.pragma(`synchronous = ${synchronous}`);
      create(db, schema);
    } finally {
      db.close();
    }
    // The log of a database that is gone would be taken for the new one's.
    for (const suffix of SIDE_FILES) rmSync(path + suffix, { force: true });
    renameSync(draft, path);
  } catch (error) {
    remove(draft);
    throw error;
  }
}

function remove(draft: string): void {
  for (const suffix of ["", ...SIDE_FILES]) rmSync(draft + suffix, { force: true });
}

function create(db: Database.Database, schema: Schema): void {
  db.pragma("auto_vacuum = INCREMENTAL");
  db.transaction(() => {
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
    db.exec(schema.ddl);
    const insert = db.prepare<[string, string]>("INSERT INTO meta (key, value) VALUES (?, ?)");
    insert.run("schema_name", SCHEMA_NAME);
    insert.run("schema_version", String(SCHEMA_VERSION));
    insert.run("ddl_digest", schema.digest);
    insert.run("store_id", newId("str"));
  }).exclusive();
}
