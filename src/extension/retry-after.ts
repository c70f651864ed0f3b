/** When a provider said to come back, read from the words of its error. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Longer than any provider's window; what is beyond it is a number of another kind. */
const MS_MAX = 31 * DAY;

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|msecs?|milliseconds?|millis)$/, 1],
  [/^(?:s|secs?|seconds?)$/, SECOND],
  [/^(?:m|mins?|minutes?)$/, MINUTE],
  [/^(?:h|hrs?|hours?)$/, HOUR],
  [/^(?:d|days?)$/, DAY],
];

/** A duration such as "20s", "~12 min" or "1h 2m 3.5s". */
const AMOUNT = String.raw`\d+(?:\.\d+)?`;
const UNIT =
  "milliseconds?|millis|msecs?|ms|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|s|m|h|d";
const DURATION = String.raw`(?:${AMOUNT}\s*(?:${UNIT})(?![a-z])[\s,]*(?:and\s+)?)+`;

/** What stands before a duration that means "come back after". */
const LEADS = [
  String.raw`(?:try|retry|retrying|wait|available|reset|resets|resetting)\b[^.\n]{0,40}?\b(?:in|after|for)\s+(?:about\s+|~\s*)?`,
  String.raw`retry[-_ ]?(?:after|delay|in)["']?\s*[:=]?\s*["']?`,
  String.raw`wait\s+(?:at least\s+|about\s+)?`,
  String.raw`requested\s+(?:a\s+)?(?:retry\s+delay\s+of\s+)?`,
].map((lead) => new RegExp(`${lead}(${DURATION})`, "i"));

const HEADER_MS = new RegExp(
  String.raw`retry[-_ ]?after[-_ ]?ms["']?\s*[:=]?\s*["']?(${AMOUNT})`,
  "i",
);
/** A number without a unit is in seconds, as in the header of that name. */
const HEADER = new RegExp(
  String.raw`retry[-_ ]?after["']?\s*[:=]?\s*["']?(${AMOUNT})(?![\d:T-])`,
  "i",
);
const INSTANT = /\b(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2}))/;
const EPOCH = /reset(?:s|_at|s_at)?["']?\s*[:=]\s*["']?(\d{10}|\d{13})(?!\d)/i;

/** Milliseconds from `now`, at least 0; absent when the text names no time. */
export function retryAfterMs(text: string, now: number): number | undefined {
  const ms = spoken(text) ?? header(text) ?? instant(text, now);
  if (ms === undefined || !Number.isFinite(ms) || ms > MS_MAX) return undefined;
  return Math.max(0, Math.round(ms));
}

function spoken(text: string): number | undefined {
  for (const lead of LEADS) {
    const duration = lead.exec(text)?.[1];
    if (duration !== undefined) return durationMs(duration);
  }
  return undefined;
}

function header(text: string): number | undefined {
  const ms = HEADER_MS.exec(text)?.[1];
  if (ms !== undefined) return Number(ms);
  const seconds = HEADER.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * SECOND;
}

function instant(text: string, now: number): number | undefined {
  const iso = /\b(?:reset|retry|again|available)/i.test(text) ? INSTANT.exec(text)?.[1] : undefined;
  if (iso !== undefined) return Date.parse(iso) - now;
  const epoch = EPOCH.exec(text)?.[1];
  if (epoch === undefined) return undefined;
  return Number(epoch) * (epoch.length === 10 ? SECOND : 1) - now;
}

function durationMs(text: string): number {
  const parts = text.toLowerCase().matchAll(new RegExp(`(${AMOUNT})\\s*(${UNIT})(?![a-z])`, "g"));
  let ms = 0;
  for (const [, amount, unit = ""] of parts) {
    ms += Number(amount) * (UNITS.find(([pattern]) => pattern.test(unit))?.[1] ?? 0);
  }
  return ms;
}
