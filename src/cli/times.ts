/** Times and durations as people type them. */
import { UsageError } from "./arguments.ts";

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
const PART = /(\d+(?:\.\d+)?)(ms|min|[smhdw])/g;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|min|[smhdw]))+$/;
/** A date alone would mean midnight somewhere; a time without a zone is local. */
const INSTANT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/;
/** What a timestamp can hold at most: the end of the year 9999. */
const YEAR_10000_MS = 253_402_300_800_000;

/** Milliseconds of "90s", "1h30m", "2d". */
export function parseDuration(name: string, text: string): number {
  if (!WHOLE.test(text)) {
    throw new UsageError(
      `--${name} must be a duration such as 90s, 30m, 1h30m or 7d, not "${text}"`,
    );
  }
  let sum = 0;
  for (const [, count, unit] of text.matchAll(PART))
    sum += Number(count) * (UNITS[unit ?? ""] ?? 0);
  return Math.round(sum);
}

/** Milliseconds since 1970 of "2025-01-31T09:00", of one with a zone, or of "+30m" from `now`. */
export function parseInstant(name: string, text: string, now: number): number {
  if (text.startsWith("+")) return reachable(name, now + parseDuration(name, text.slice(1)));
  const ms = INSTANT.test(text) ? Date.parse(text.replace(" ", "T")) : Number.NaN;
  if (!Number.isNaN(ms)) return reachable(name, ms);
  throw new UsageError(
    `--${name} must be a time such as 2025-01-31T09:00, 2025-01-31T09:00Z or +30m, not "${text}"`,
  );
}

function reachable(name: string, ms: number): number {
  if (ms < YEAR_10000_MS) return ms;
  throw new UsageError(`--${name} lies beyond the year 9999`);
}
