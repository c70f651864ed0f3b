/** A value as a person reads it: text as text, the rest in the shape of an outline. */
import type { JsonValue } from "@bufbuild/protobuf";
import { safe, safeLines, shortJson } from "../platform/text.ts";

const INDENT = "  ";
/** Below that a list or an object of plain values is read faster on one line. */
const ONE_LINE_CHARS = 72;

/** Lines of text keep their breaks; nothing is cut. Not meant to be read by programs. */
export function valueLines(value: JsonValue): readonly string[] {
  if (typeof value === "string") return textLines(value);
  if (typeof value !== "object" || value === null) return [JSON.stringify(value)];
  if (isFlat(value)) {
    const line = shortJson(value, Number.POSITIVE_INFINITY);
    if (line.length <= ONE_LINE_CHARS) return [line];
  }
  return Array.isArray(value)
    ? value.flatMap((member) => memberLines("-", " ", member))
    : Object.entries(value).flatMap(([key, member]) => memberLines(`${safe(key)}:`, " ", member));
}

/** A JSON Schema, on one line if it is short. */
export function schemaLines(schema: JsonValue): readonly string[] {
  const line = shortJson(schema, Number.POSITIVE_INFINITY);
  return line.length <= ONE_LINE_CHARS ? [line] : valueLines(schema);
}

/** One level deeper; an empty line stays empty. */
export function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === "" ? "" : INDENT + line));
}

function memberLines(label: string, gap: string, member: JsonValue): readonly string[] {
  const lines = valueLines(member);
  const [only = ""] = lines;
  const isOutline = typeof member === "object" && member !== null && !/^[[{]/.test(only);
  if (lines.length === 1 && !isOutline) return [`${label}${gap}${only}`.trimEnd()];
  return [label, ...indented(lines)];
}

function textLines(text: string): readonly string[] {
  return safeLines(text.replace(/\n$/, "")).split("\n");
}

/** True when it holds nothing that has lines of its own. */
function isFlat(value: object): boolean {
  return Object.values(value).every(
    (member: JsonValue) =>
      (typeof member !== "object" || member === null) &&
      !(typeof member === "string" && member.includes("\n")),
  );
}
