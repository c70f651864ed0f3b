import type { Problem } from "./errors.ts";
import { utf8Bytes } from "./json.ts";

/** Collects everything that is wrong, so that an author sees it all at once. */
export interface Findings {
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

export type Fields = Readonly<Record<string, unknown>>;

/** Names are stored, shown in one line, and joined with `/` in paths. */
export const NAME_BYTES_MAX = 256;

/** Says what is wrong with a name or a label, or `undefined`. */
export function textProblem(value: unknown): string | undefined {
  if (typeof value !== "string") return `must be a text, not ${shown(value)}`;
  if (value === "") return "must not be empty";
  if (!value.isWellFormed()) return "holds half of a surrogate pair";
  if (CONTROL.test(value)) return `${shown(value)} holds a control character`;
  const bytes = utf8Bytes(value);
  return bytes > NAME_BYTES_MAX ? `has ${bytes} bytes, more than ${NAME_BYTES_MAX}` : undefined;
}

/** Control, format and line-break characters: invisible, or able to forge a line of a log. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Says what is wrong with the name of a node, or `undefined`. */
export function nodeNameProblem(name: string): string | undefined {
  if (name.includes("/")) return 'must not hold "/", which separates the parts of a path';
  if (name.startsWith("$"))
    return 'must not begin with "$", which is reserved for $output and $result';
  if (RESERVED.has(name)) return "is a reserved name";
  return textProblem(name);
}

/** Members that every JavaScript object has or treats specially: `outputs.constructor` would mislead. */
const RESERVED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Warns of fields that nothing reads: a misspelt one would otherwise be silently without effect. */
export function warnUnknownFields(
  findings: Findings,
  place: string,
  fields: object,
  known: readonly string[],
): void {
  for (const field of Object.keys(fields)) {
    if (known.includes(field)) continue;
    const near = nearest(field, known);
    const hint =
      near === undefined
        ? `the known ones are ${known.join(", ")}`
        : `the nearest known field is ${near}`;
    findings.warnings.push({
      place: memberPlace(place, field),
      message: `unknown field, which is ignored; ${hint}`,
    });
  }
}

export function memberPlace(place: string, member: string): string {
  const name = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(member) ? member : JSON.stringify(member);
  if (place === "") return name;
  return name === member ? `${place}.${name}` : `${place}[${name}]`;
}

/** An object with fields, as opposed to `null`, an array, a function or a plain value. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value as a message shows it: short, and safe for anything. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  return typeof value === "bigint" ? `${value}n` : String(value);
}

/**
 * The known word with the fewest edits between it and `word`, the first one in a
 * tie; `undefined` when none is near enough to have been meant.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = word.toLowerCase().slice(0, NEAREST_CHARS_MAX);
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const other = candidate.toLowerCase().slice(0, NEAREST_CHARS_MAX);
    const distance = isBeginning(wanted, other) ? 1 : editDistance(wanted, other);
    // A third of the letters may differ: two of "build" or "timeout", none of "b".
    const allowed = Math.ceil(Math.max(wanted.length, other.length) / 3);
    if (distance > allowed || distance >= Math.min(wanted.length, other.length)) continue;
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

const NEAREST_CHARS_MAX = 64;
const BEGINNING_CHARS_MIN = 3;

/** `timeout` for `timeoutMs`: what was left out is no mistake of spelling. */
function isBeginning(left: string, right: string): boolean {
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  return short.length >= BEGINNING_CHARS_MIN && long.startsWith(short);
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
