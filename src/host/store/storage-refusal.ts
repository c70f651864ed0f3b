/** What writers are told when the storage failed. */
import { HostError } from "../errors.ts";
import { storageCode } from "./storage-error.ts";

/** The refusal of a write of which nothing was stored. */
export function refusal(error: unknown): HostError {
  const code = storageCode(error);
  if (code === "FULL")
    return new HostError(
      "STORAGE_FULL",
      "the disk is full and nothing was changed; free some space and try again",
    );
  const cause =
    code === "BUSY"
      ? "another program holds a lock on the database; end it and try again"
      : `the database failed (${describe(error)}); see the host's log`;
  return new HostError("STORAGE_FAILED", `nothing was changed: ${cause}`);
}

export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error ? `${String(error.code)}: ${error.message}` : error.message;
}
