/** Longer than any run is meant to live, and short enough that a deadline stays a valid date. */
export const DURATION_MAX_MS = 100 * 366 * 24 * 60 * 60 * 1000;

/**
 * Says what is wrong with a duration in milliseconds, or `undefined` when it is
 * usable. There is no upper bound at 2^31: deadlines are kept as dates and
 * timers are armed in pieces.
 */
export function durationProblem(value: unknown): string | undefined {
  if (typeof value !== "number") return `must be a number of milliseconds, not ${nameOf(value)}`;
  if (!Number.isFinite(value)) return `must be a finite number of milliseconds, not ${value}`;
  if (value <= 0) return `must be more than 0 ms, not ${value}`;
  if (value > DURATION_MAX_MS) return `must be at most ${DURATION_MAX_MS} ms (100 years)`;
  return undefined;
}

/** A usable duration in whole milliseconds, or a `RangeError` that names the place. */
export function requireDuration(value: unknown, place: string): number {
  const problem = durationProblem(value);
  if (problem !== undefined) throw new RangeError(`${place}: ${problem}`);
  // durationProblem has just refused everything that is not a number
  return Math.ceil(value as number);
}

/** As `requireDuration`, where `null` means no limit. */
export function requireTimeout(value: unknown, place: string): number | null {
  return value === null ? null : requireDuration(value, place);
}

/**
 * A point in time as milliseconds since the epoch: a `Date`, an ISO text with a
 * zone, or a number. A point in the past is legal and simply due.
 */
export function requireInstant(value: unknown, place: string): number {
  const ms = instantOf(value);
  if (ms !== undefined && Math.abs(ms) <= INSTANT_MAX_MS) return Math.ceil(ms);
  const expected = "a Date, an ISO 8601 text with a time zone, or milliseconds since 1970";
  throw new RangeError(`${place}: must be ${expected}, not ${nameOf(value)}`);
}

/** The furthest point from 1970 that a `Date` can hold. */
const INSTANT_MAX_MS = 8.64e15;

/** A text without a zone would mean another instant on another machine. */
const ISO_WITH_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;

function instantOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value === "string" && ISO_WITH_ZONE.test(value)) return finite(Date.parse(value));
  if (value instanceof Date) return finite(value.getTime());
  return undefined;
}

function finite(ms: number): number | undefined {
  return Number.isFinite(ms) ? ms : undefined;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (typeof value === "number") return String(value);
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}
