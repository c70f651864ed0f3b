/** Turning values into words for people. Everything here is safe to show on a terminal. */

/** Control characters, and those that reorder or hide what follows them. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const UNSAFE_IN_LINES =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** One line in which nothing can move the cursor, change a colour or hide a letter. */
export function safe(text: string): string {
  return text.replaceAll(UNSAFE, escaped);
}

/** As `safe`, with line breaks and tabs left as they are. */
export function safeLines(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(UNSAFE_IN_LINES, escaped);
}

/** Indented JSON in which control characters appear as escapes, so that it stays JSON. */
export function prettyJson(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2);
  return text.replaceAll(UNSAFE, (char) => (char === "\n" ? char : unicodeEscape(char)));
}

/** JSON on one line, cut for a display. */
export function shortJson(value: unknown, charsMax: number): string {
  return cut(safe(JSON.stringify(value)), charsMax);
}

export function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, Math.max(0, charsMax - 1))}…`;
}

/** "0.4 s", "12 s", "3 min 5 s", "2 h 14 min", "3 d 4 h". */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < 10 * SECOND_MS) return `${(Math.floor(whole / 100) / 10).toFixed(1)} s`;
  if (whole < MINUTE_MS) return `${Math.floor(whole / SECOND_MS)} s`;
  if (whole < HOUR_MS) return twoUnits(whole, [MINUTE_MS, "min"], [SECOND_MS, "s"]);
  if (whole < DAY_MS) return twoUnits(whole, [HOUR_MS, "h"], [MINUTE_MS, "min"]);
  return twoUnits(whole, [DAY_MS, "d"], [HOUR_MS, "h"]);
}

/** "12 s ago"; coarse, because it is read and not counted with. "in 1 h 59 min": somebody plans by it. */
export function fromNow(ms: number | undefined, now: number): string {
  if (ms === undefined) return "";
  if (ms > now) return `in ${rounded(ms - now)}`;
  const away = now - ms;
  const [unit, name] = COARSE.find(([size]) => away >= size) ?? [SECOND_MS, "s"];
  return `${Math.floor(away / unit)} ${name} ago`;
}

/** Two units, rounded to the smaller one, which is left out when it is zero. */
function rounded(ms: number): string {
  const small = ms < HOUR_MS ? SECOND_MS : ms < DAY_MS ? MINUTE_MS : HOUR_MS;
  const whole = Math.max(SECOND_MS, Math.round(ms / small) * small);
  if (whole < MINUTE_MS) return `${whole / SECOND_MS} s`;
  return duration(whole).replace(/ 0 \w+$/, "");
}

const COARSE: readonly (readonly [number, string])[] = [
  [DAY_MS, "d"],
  [HOUR_MS, "h"],
  [MINUTE_MS, "min"],
];

/** Local time as people write it: 2025-01-31 09:05:07. */
export function localTime(ms: number): string {
  const date = new Date(ms);
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join("-");
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":");
  return `${day} ${time}`;
}

/** The time of day alone: 09:05:07. */
export function clockTime(ms: number): string {
  return localTime(ms).slice("2025-01-31 ".length);
}

export function bytes(count: number | bigint): string {
  let size = Number(count);
  let unit = 0;
  while (size >= 1024 && unit < BYTE_UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

export function plural(count: number | bigint, noun: string): string {
  return `${count} ${noun}${BigInt(count) === 1n ? "" : "s"}`;
}

/** The name of an enum's value as state.md spells it: "timed_out". */
export function word(table: Readonly<Record<string, number>>, value: number): string {
  const name = Object.entries(table).find(([, number]) => number === value)?.[0];
  return name?.toLowerCase() ?? `unknown (${value})`;
}

type Unit = readonly [number, string];

function twoUnits(ms: number, large: Unit, small: Unit): string {
  const rest = Math.floor((ms % large[0]) / small[0]);
  return `${Math.floor(ms / large[0])} ${large[1]} ${rest} ${small[1]}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

function escaped(char: string): string {
  if (char === "\n") return "\\n";
  if (char === "\t") return "\\t";
  if (char === "\r") return "\\r";
  const code = char.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : unicodeEscape(char);
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
