import { HostError } from "../errors.ts";
import { sha256Hex } from "../../platform/ids.ts";
import type { CommandRequest } from "../store/doors.ts";

/** A client's command as every operation of one takes it: envelope, method and fingerprint. */
export type AskedCommand = Omit<CommandRequest, "runId">;

/** The same command, about a run if there is one; its receipt is looked up either way. */
export function about(asked: AskedCommand, runId: string | undefined): CommandRequest {
  return runId === undefined ? asked : { ...asked, runId };
}

/** JSON text with sorted keys and no spaces: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sorted);
}

/** Digest of what a JSON text means. Refuses a text that is not JSON as REQUEST_INVALID. */
export function digestOfJson(json: string, what: string): string {
  return sha256Hex(canonicalJson(parseJson(json, what)));
}

export function parseJson(json: string, what: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw new HostError("REQUEST_INVALID", `${what} is not JSON: ${(error as Error).message}`);
  }
}

/**
 * What a command asks for, as one digest: a repeated key must come with the same.
 * It covers the request's fields and never the content of files.
 */
export function commandFingerprint(
  method: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  return sha256Hex(canonicalJson([method, fields]));
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
