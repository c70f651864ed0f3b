import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const SCHEMA_NAME = "pi-workflows";
export const SCHEMA_VERSION = 1;

/** "piwf": tells our databases from everybody else's by their first hundred bytes. */
export const APPLICATION_ID = 0x70697766;

export interface Schema {
  readonly ddl: string;
  /** SHA-256 of the statements; comments and spaces do not count. */
  readonly digest: string;
}

/** In the order in which they are executed. */
export const SCHEMA_FILES: readonly string[] = [
  "schema.sql",
  "schema-sessions.sql",
  "schema-rules.sql",
];

/** Reads the schema, which lies beside this module: in `src` as in the bundle. */
export function readSchema(): Schema {
  const ddl = SCHEMA_FILES.map((file) =>
    readFileSync(join(import.meta.dirname, file), "utf8"),
  ).join("\n");
  const statements = ddl
    .replaceAll(/--[^\n]*/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return { ddl, digest: createHash("sha256").update(statements).digest("hex") };
}
