/** For how long a provider's limit holds a session back. */
import { HOLD_BACKOFF_MS, HOLD_MS_MAX } from "../limits.ts";
import type { TurnErrorRecord } from "../records-sessions.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** "try again in 1h 20m", "retry after 30 seconds", "retry-after: 12", "resets in 5 minutes". */
const PHRASE =
  /(?:try again|retry|retry[- ]after|reset(?:s|ting)?|available)\W+(?:(?:in|after)\W+)?((?:\d+(?:\.\d+)?\s*[a-z]*[\s,]*(?:and\s+)?)+)/i;
const PART = /(\d+(?:\.\d+)?)\s*([a-z]*)/gi;

/**
 * What the provider said, in its header or in its words, else longer with each
 * limit in a row. `before` is how many there were.
 */
export function holdMs({ message, retryAfterMs }: TurnErrorRecord, before: number): number {
  const told = retryAfterMs ?? waitInWords(message);
  if (told !== undefined) return Math.min(Math.max(told, 1_000), HOLD_MS_MAX);
  return HOLD_BACKOFF_MS[before] ?? HOLD_BACKOFF_MS.at(-1) ?? 0;
}

/** The time that an error's text names; absent when it names none. */
export function waitInWords(text: string): number | undefined {
  const phrase = PHRASE.exec(text)?.[1];
  if (phrase === undefined) return undefined;
  let total = 0;
  for (const [, digits = "", unit = ""] of phrase.matchAll(PART)) {
    const unitMs = UNIT_MS[shortUnit(unit.toLowerCase())];
    if (unitMs === undefined) break;
    total += Number(digits) * unitMs;
  }
  return total > 0 ? Math.ceil(total) : undefined;
}

/** Providers write units out or not; a bare number is of seconds. */
function shortUnit(unit: string): string {
  if (unit === "") return "s";
  return unit.startsWith("ms") || unit.startsWith("milli") ? "ms" : unit.slice(0, 1);
}
