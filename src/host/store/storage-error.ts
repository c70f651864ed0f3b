/**
 * What SQLite says when it is the storage that failed and not the statement. Each
 * ends the whole batch: SQLite may have rolled everything back, and a swallowed
 * one would let the rest of the batch commit statement by statement.
 */
const STORAGE_CODES = [
  "FULL",
  "IOERR",
  "NOMEM",
  "CORRUPT",
  "NOTADB",
  "READONLY",
  "CANTOPEN",
  "PROTOCOL",
  "BUSY",
  "INTERRUPT",
] as const;

export type StorageCode = (typeof STORAGE_CODES)[number];

/** The code behind an error of SQLite; extended codes count as their base. */
export function storageCode(error: unknown): StorageCode | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const [, base] = /^SQLITE_([A-Z]+)/.exec(String(error.code)) ?? [];
  return STORAGE_CODES.find((code) => code === base);
}
