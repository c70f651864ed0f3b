/** What a request must be before anything is looked up. Each refusal names the field. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { HostError } from "../errors.ts";
import { NAME_BYTES_MAX, PATH_BYTES_MAX, PRIORITY_ABS_MAX, VALUE_BYTES_MAX } from "../limits.ts";

/** 275,760 years; what a Date can hold. */
const INSTANT_MAX = 8.64e15;
/** From the root, on any platform. */
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;

export function invalid(field: string, problem: string): HostError {
  return new HostError("REQUEST_INVALID", `${field} ${problem}`);
}

/** Refuses what is longer in UTF-8, telling by how much. */
export function checkBytes(field: string, text: string, limit: number = NAME_BYTES_MAX): string {
  const actual = Buffer.byteLength(text);
  if (actual > limit) {
    const message = `${field} has ${actual} bytes; at most ${limit} are allowed`;
    throw new HostError("LIMIT_EXCEEDED", message, { limit, actual });
  }
  // Paths and names with it mean one thing to us and another to the system below.
  if (text.includes("\0")) throw invalid(field, "holds a NUL character");
  return text;
}

export function checkName(field: string, text: string, limit?: number): string {
  if (text === "") throw invalid(field, "is missing");
  return checkBytes(field, text, limit);
}

export function checkPath(field: string, path: string): string {
  checkName(field, path, PATH_BYTES_MAX);
  if (!ABSOLUTE.test(path)) throw invalid(field, `"${path}" is not an absolute path`);
  return path;
}

export function checkPriority(priority: number): number {
  if (Math.abs(priority) <= PRIORITY_ABS_MAX) return priority;
  throw invalid("priority", `must be from ${-PRIORITY_ABS_MAX} to ${PRIORITY_ABS_MAX}`);
}

/** JSON text of a user's value, within the bound for one. */
export function checkValueSize(field: string, json: string): string {
  return checkBytes(field, json, VALUE_BYTES_MAX);
}

/** Milliseconds since 1970; absent stays absent. */
export function checkInstant(field: string, timestamp: Timestamp | undefined): number | undefined {
  if (timestamp === undefined) return undefined;
  const instant = timestampMs(timestamp);
  if (instant >= 0 && instant <= INSTANT_MAX) return instant;
  throw invalid(field, "is no time after 1970 that a calendar knows");
}

/** The session that a caller speaks for; a program has none. */
export function checkSession(sessionId: string): { readonly sessionId?: string } {
  return sessionId === "" ? {} : { sessionId: checkBytes("session_id", sessionId) };
}

/** The rows of one page: 0 means the default, more than the most means the most. */
export function pageSize(wanted: number, fallback: number, max: number): number {
  return wanted === 0 ? fallback : Math.min(wanted, max);
}
