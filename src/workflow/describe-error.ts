import type { JsonValue } from "./json.ts";

/** A thrown value in the form in which it is stored and shown. */
export interface ErrorDescription {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** Further fields of the error, `cause` and `errors` among them. */
  readonly details?: { readonly [key: string]: JsonValue };
}

// An error is read by people and stored in every event that names it; these bounds
// keep it readable and far below the size of a message.
const NAME_MAX = 256;
const MESSAGE_MAX = 8_192;
const STACK_MAX = 16_384;
const TEXT_MAX = 2_048;
const MEMBERS_MAX = 32;
const DEPTH_MAX = 4;
const NODES_MAX = 400;

/**
 * Describes any thrown value and never throws itself. What JSON cannot hold, or
 * what throws when it is read, is replaced by a marker in brackets, so that an
 * odd field never hides the error.
 */
export function describeError(thrown: unknown): ErrorDescription {
  try {
    if (isErrorLike(thrown)) return describe(thrown, { left: NODES_MAX, seen: new Set() }, 0);
    return { name: "ThrownValue", message: messageOfValue(thrown) };
  } catch {
    return { name: "ThrownValue", message: "a value was thrown that cannot be read" };
  }
}

interface Budget {
  left: number;
  readonly seen: Set<object>;
}

function describe(error: object, budget: Budget, depth: number): ErrorDescription {
  budget.seen.add(error);
  const stack = peek(error, "stack");
  const details = describeMembers(error, budget, depth);
  budget.seen.delete(error);
  return {
    name: text(peek(error, "name"), NAME_MAX) || "Error",
    message: text(peek(error, "message"), MESSAGE_MAX),
    ...(typeof stack === "string" ? { stack: cut(stack, STACK_MAX) } : {}),
    ...(Object.keys(details).length > 0 ? { details } : {}),
  };
}

const NAMED_ELSEWHERE: ReadonlySet<string> = new Set(["name", "message", "stack"]);

/** `cause` and `errors` are not enumerable on the built-in errors, yet the most useful fields. */
function describeMembers(error: object, budget: Budget, depth: number): Record<string, JsonValue> {
  const hidden = ["cause", "errors"].filter((key) => Object.hasOwn(error, key));
  const keys = new Set([...Object.keys(error), ...hidden]);
  for (const key of NAMED_ELSEWHERE) keys.delete(key);
  return members(error, [...keys], budget, depth);
}

function members(
  owner: object,
  keys: readonly string[],
  budget: Budget,
  depth: number,
): Record<string, JsonValue> {
  const entries: [string, JsonValue][] = [];
  for (const key of keys.slice(0, MEMBERS_MAX)) {
    const member = peek(owner, key);
    if (member !== undefined)
      entries.push([cut(key, NAME_MAX), readable(member, budget, depth + 1)]);
  }
  if (keys.length > MEMBERS_MAX) entries.push(["…", `[${keys.length - MEMBERS_MAX} more]`]);
  return Object.fromEntries(entries);
}

function readable(value: unknown, budget: Budget, depth: number): JsonValue {
  budget.left -= 1;
  if (budget.left < 0) return "[cut]";
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return cut(value, TEXT_MAX);
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : `[${value}]`;
  if (typeof value === "bigint") return cut(`[BigInt ${value}]`, TEXT_MAX);
  if (typeof value !== "object") return cut(`[${typeof value} ${nameOf(value)}]`, TEXT_MAX);
  try {
    return readableObject(value, budget, depth);
  } catch {
    return UNREADABLE;
  }
}

function readableObject(value: object, budget: Budget, depth: number): JsonValue {
  if (budget.seen.has(value)) return "[circular]";
  if (depth > DEPTH_MAX) return "[nested deeper]";
  if (value instanceof Date) return finiteDate(value) ? value.toISOString() : "[Invalid Date]";
  if (value instanceof Map || value instanceof Set) return `[${nameOf(value)} of ${value.size}]`;
  if (ArrayBuffer.isView(value)) return `[${nameOf(value)} of ${value.byteLength} bytes]`;
  if (isErrorLike(value)) return { ...describe(value, budget, depth) };
  budget.seen.add(value);
  const result = Array.isArray(value)
    ? readableArray(value, budget, depth)
    : members(value, Object.keys(value), budget, depth);
  budget.seen.delete(value);
  return result;
}

function readableArray(items: readonly unknown[], budget: Budget, depth: number): JsonValue {
  const result: JsonValue[] = [];
  for (let index = 0; index < Math.min(items.length, MEMBERS_MAX); index += 1) {
    const item = peek(items, String(index));
    result.push(item === undefined ? null : readable(item, budget, depth + 1));
  }
  if (items.length > MEMBERS_MAX) result.push(`[${items.length - MEMBERS_MAX} more]`);
  return result;
}

/** An error of another realm or of an older library is no `Error` of ours, but reads like one. */
function isErrorLike(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof Error || (isText(peek(value, "message")) && isText(peek(value, "name")));
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== UNREADABLE;
}

function messageOfValue(thrown: unknown): string {
  if (typeof thrown === "string")
    return thrown === "" ? "an empty text was thrown" : cut(thrown, MESSAGE_MAX);
  if (typeof thrown !== "object" || thrown === null) return `${simpleText(thrown)} was thrown`;
  const shown = readable(thrown, { left: NODES_MAX, seen: new Set() }, 0);
  return cut(`a value that is no error was thrown: ${JSON.stringify(shown)}`, MESSAGE_MAX);
}

function simpleText(value: unknown): string {
  if (typeof value === "function") return `function ${nameOf(value)}`;
  return cut(typeof value === "bigint" ? `${value}n` : String(value), TEXT_MAX);
}

const UNREADABLE = "[cannot be read]";

function peek(owner: object, key: string): unknown {
  try {
    return (owner as Record<string, unknown>)[key];
  } catch {
    return UNREADABLE;
  }
}

function nameOf(value: unknown): string {
  if (typeof value === "symbol") return value.description ?? "";
  if (typeof value === "function") return text(peek(value, "name"), NAME_MAX) || "without a name";
  const owner = value as object; // callers pass objects, functions and symbols only
  const { constructor } = owner;
  return typeof constructor === "function" ? constructor.name : "object";
}

function finiteDate(date: Date): boolean {
  return Number.isFinite(date.getTime());
}

function text(value: unknown, max: number): string {
  if (typeof value === "string") return cut(value, max);
  if (value === undefined) return "";
  if (typeof value === "object" && value !== null) return "[object]";
  return cut(simpleText(value), max);
}

/** Cut where it is too long, and always well-formed, since it ends up in JSON. */
function cut(value: string, max: number): string {
  if (value.length <= max) return value.toWellFormed();
  return `${value.slice(0, max).toWellFormed()}… [${value.length - max} more characters]`;
}
