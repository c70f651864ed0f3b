/**
 * Strict JSON values. What a node returns is copied here once, and the copy is
 * what the next node sees, so a value seen live equals the value seen after a
 * restart.
 */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** The largest user value, as UTF-8 bytes of its JSON text. Larger data belongs in a file. */
export const JSON_BYTES_MAX = 8 * 1024 * 1024;

/** Deeper values are refused before they can exhaust the stack of a parser further down. */
export const JSON_DEPTH_MAX = 500;

export type JsonProblem = "not_json" | "unreadable" | "too_deep" | "too_large";

/** A value that JSON cannot hold exactly, with the place inside the value. */
export class JsonValueError extends Error {
  override readonly name = "JsonValueError";
  /** The same code makes the same kind of value again. */
  readonly retryable = false;
  readonly path: string;
  readonly problem: JsonProblem;

  constructor(problem: JsonProblem, path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.path = path;
    this.problem = problem;
  }
}

/**
 * Returns a fresh copy of `value` that holds JSON only, or throws a
 * `JsonValueError` that names the first place that does not fit.
 *
 * Members that are `undefined` are dropped and a value that is `undefined` as a
 * whole becomes `null` (a node that returns nothing); -0 becomes 0. `path` names
 * the value in messages, as in `outputs.plan`.
 */
export function toJson(value: unknown, path: string): JsonValue {
  if (value === undefined) return null;
  const walk: Walk = { root: path, segments: [], ancestors: new Set(), bytes: 0 };
  try {
    return copy(walk, value);
  } catch (error) {
    if (error instanceof JsonValueError) throw error;
    // Getters and proxies run code of the author, which may throw anything.
    const why = error instanceof Error ? `: ${error.message}` : "";
    throw new JsonValueError("unreadable", place(walk), `cannot be read${why}`);
  }
}

/**
 * The same plain objects and arrays without their symbol members: libraries
 * mark their schemas with symbols, which JSON leaves out.
 */
export function withoutSymbols(value: unknown): unknown {
  if (Array.isArray(value)) return (value as readonly unknown[]).map(withoutSymbols);
  if (typeof value !== "object" || value === null || kindOf(value) !== "object") return value;
  const entries = Object.entries(value).map(([key, member]) => [key, withoutSymbols(member)]);
  return Object.fromEntries(entries);
}

/** Bytes of `text` in UTF-8. A lone surrogate counts as the three bytes of its replacement. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isSurrogatePair(text, index)) {
      bytes += 4;
      index += 1;
    } else bytes += 3;
  }
  return bytes;
}

interface Walk {
  readonly root: string;
  readonly segments: (string | number)[];
  readonly ancestors: Set<object>;
  bytes: number;
}

function copy(walk: Walk, value: unknown): JsonValue {
  switch (typeof value) {
    case "string":
      return copyString(walk, value);
    case "number":
      if (!Number.isFinite(value)) throw notJson(walk, String(value));
      count(walk, String(value).length);
      return value === 0 ? 0 : value;
    case "boolean":
      count(walk, value ? 4 : 5);
      return value;
    case "object":
      if (value === null) {
        count(walk, 4);
        return null;
      }
      return copyObject(walk, value);
    case "undefined":
    case "bigint":
    case "symbol":
    case "function":
      throw notJson(walk, typeof value === "bigint" ? "BigInt" : typeof value);
  }
}

function copyString(walk: Walk, value: string): string {
  // The length alone already decides about a giant text, without reading it.
  count(walk, value.length + 2);
  if (!value.isWellFormed()) throw notJson(walk, "lone surrogate");
  count(walk, quotedBytes(value) - value.length);
  return value;
}

function copyObject(walk: Walk, value: object): JsonValue {
  if (walk.ancestors.has(value)) throw notJson(walk, "cycle");
  if (walk.ancestors.size >= JSON_DEPTH_MAX) {
    const reason = `nested deeper than ${JSON_DEPTH_MAX} levels; use a flat list with ids`;
    throw new JsonValueError("too_deep", place(walk), reason);
  }
  const kind = kindOf(value);
  walk.ancestors.add(value);
  count(walk, 2);
  const result =
    kind === "array"
      ? copyArray(walk, value as readonly unknown[]) // kindOf asked Array.isArray
      : kind === "object"
        ? copyMembers(walk, value)
        : undefined;
  walk.ancestors.delete(value);
  if (result === undefined) throw notJson(walk, kind);
  return result;
}

function copyArray(walk: Walk, items: readonly unknown[]): JsonValue {
  const result: JsonValue[] = [];
  const { length } = items;
  for (let index = 0; index < length; index += 1) {
    walk.segments.push(index);
    if (index > 0) count(walk, 1);
    result.push(copy(walk, items[index]));
    walk.segments.pop();
  }
  return result;
}

function copyMembers(walk: Walk, value: object): JsonValue {
  const result: Record<string, JsonValue> = {};
  let separator = 0;
  for (const key of enumerableKeys(value)) {
    walk.segments.push(typeof key === "symbol" ? String(key) : key);
    if (typeof key === "symbol") throw notJson(walk, "symbol");
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) {
      copyString(walk, key);
      count(walk, 1 + separator);
      separator = 1;
      setOwn(result, key, copy(walk, member));
    }
    walk.segments.pop();
  }
  return result;
}

/** Assigning to `__proto__` would change the prototype in place of adding a member. */
function setOwn(target: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key !== "__proto__") target[key] = value;
  else
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}

function enumerableKeys(value: object): (string | symbol)[] {
  const shown = Object.getOwnPropertySymbols(value).filter((key) =>
    Object.prototype.propertyIsEnumerable.call(value, key),
  );
  return shown.length === 0 ? Object.keys(value) : [...Object.keys(value), ...shown];
}

/** `array` and `object` are JSON, from whatever realm they come; everything else is named by its class. */
function kindOf(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return "object";
  if (prototype === Array.prototype && Array.isArray(value)) return "array";
  const name = className(prototype);
  if (Array.isArray(value)) return name === "Array" ? "array" : name;
  const isRoot = Object.getPrototypeOf(prototype) === null;
  return isRoot && name === "Object" ? "object" : name;
}

function className(prototype: unknown): string {
  const { constructor } = prototype as { readonly constructor?: unknown };
  const name = typeof constructor === "function" ? constructor.name : "";
  return name === "" ? "class instance" : name;
}

function count(walk: Walk, bytes: number): void {
  walk.bytes += bytes;
  if (walk.bytes <= JSON_BYTES_MAX) return;
  const reason = `larger than ${JSON_BYTES_MAX / 1024 / 1024} MiB; write a file and return its path`;
  throw new JsonValueError("too_large", walk.root, reason);
}

/** Length of the JSON text without its quotes: what JSON.stringify escapes, counted as it escapes it. */
function quotedBytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 0x22 || unit === 0x5c || SHORT_ESCAPES.has(unit)) bytes += 2;
    else if (unit < 0x20) bytes += 6;
    else if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isSurrogatePair(text, index)) {
      bytes += 4;
      index += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** Backspace, tab, line feed, form feed and carriage return have escapes of two characters. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);

function isSurrogatePair(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(index + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

const ADVICE: Readonly<Record<string, string>> = {
  undefined: "use null",
  function: "return the data it would compute",
  symbol: "use a string",
  cycle: "use ids in place of references",
  "lone surrogate": "use toWellFormed()",
  BigInt: "use a string",
  NaN: "use null",
  Infinity: "use null",
  "-Infinity": "use null",
  Date: "use toISOString()",
  Map: "use Object.fromEntries()",
  Set: "use an array",
  Buffer: "use toString() or write a file",
  Uint8Array: "use an array or write a file",
  Promise: "await it",
  RegExp: "use its source",
  URL: "use its href",
  Error: "use its message",
};

function notJson(walk: Walk, what: string): JsonValueError {
  const advice = ADVICE[what] ?? "use a plain object";
  return new JsonValueError("not_json", place(walk), `${what} is not JSON; ${advice}`);
}

function place(walk: Walk): string {
  return walk.root + walk.segments.map(segmentText).join("");
}

/** The part of a path for one member: `.name`, `[3]`, or `["any text"]`, cut when it is very long. */
function segmentText(segment: string | number): string {
  if (typeof segment === "number") return `[${segment}]`;
  if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(segment)) return `.${cut(segment)}`;
  return `[${JSON.stringify(cut(segment))}]`;
}

function cut(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 80)}…`;
}
