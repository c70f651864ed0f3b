/** Whether the file system takes anything: SQLite itself tells a full disk only now and then. */
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { HostError } from "../errors.ts";
import { storageCode } from "./storage-error.ts";

/** What an opened database takes beside itself: its shared memory and the head of its log. */
const NEEDED_BYTES = 64 * 1024;
const NO_ROOM: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** The refusal of a start for want of room; absent when the storage failed otherwise. */
export function roomRefusal(path: string, error: unknown): HostError | undefined {
  const code = isTrouble(error) ? missingRoom(`${path}.room`) : undefined;
  if (code === undefined) return undefined;
  const message = `there is no room for ${path} (${code}): the disk is full, or files may not grow; make room and start again`;
  return new HostError("STORAGE_FULL", message);
}

/** Also a refusal of ours whose cause was the storage's. */
function isTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && NO_ROOM.has(error.code)) return true;
  const code = storageCode(error) ?? storageCode(error.cause);
  return code === "FULL" || code === "IOERR" || code === "CANTOPEN";
}

/** Why a file of that size cannot be written; absent when it can. */
function missingRoom(probe: string): string | undefined {
  try {
    const file = openSync(probe, "w", 0o600);
    try {
      for (let left = NEEDED_BYTES; left > 0;) left -= writeSync(file, Buffer.alloc(left));
    } finally {
      closeSync(file);
    }
    return undefined;
  } catch (error) {
    const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
    return typeof code === "string" && NO_ROOM.has(code) ? code : undefined;
  } finally {
    rmSync(probe, { force: true });
  }
}
