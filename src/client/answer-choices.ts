/** What a schema leaves to choose from, and what a typed line means as an answer. */
import type { JsonValue } from "@bufbuild/protobuf";

export interface Choice {
  /** How it is shown and typed. */
  readonly label: string;
  readonly value: JsonValue;
  /** The number that may be typed for it; absent where numbers are answers themselves. */
  readonly number?: number;
}

/** The plain values that a schema allows, when it allows nothing else. */
export function choicesOf(schema: JsonValue): readonly Choice[] {
  if (!isObject(schema)) return [];
  const values = valuesOf(schema);
  if (!values.every((value) => typeof value !== "object" || value === null)) return [];
  const plain = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  // The text "true" and the value true would read alike: then the text is shown quoted.
  const labels = plain.map((label, index) => {
    const isAlone = plain.indexOf(label) === plain.lastIndexOf(label);
    return isAlone ? label : JSON.stringify(values[index]);
  });
  // "2" would mean the second choice and the answer 2.
  const isNumbered = labels.every((label) => label.trim() === "" || Number.isNaN(Number(label)));
  return values.map((value, index) => ({
    label: labels[index] ?? "",
    value,
    ...(isNumbered ? { number: index + 1 } : {}),
  }));
}

function valuesOf(schema: { readonly [key: string]: JsonValue }): readonly JsonValue[] {
  if (schema["type"] === "boolean" && !("enum" in schema)) return [true, false];
  const listed = schema["enum"];
  if (Array.isArray(listed)) return listed;
  return constants(schema["oneOf"] ?? schema["anyOf"] ?? null);
}

/** What a typed line means as an answer: by number or name of a choice, as JSON, or as text. */
export function answerOf(typed: string, schema: JsonValue): JsonValue {
  const text = typed.trim();
  const choices = choicesOf(schema);
  const chosen =
    choices.find(({ label }) => label === text) ??
    choices.find(({ number }) => number === Number(text));
  if (chosen !== undefined) return chosen.value;
  if (isObject(schema) && schema["type"] === "string") return choices.length > 0 ? text : typed;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Not JSON, so it is meant as text; the host checks whether text will do.
    return choices.length > 0 ? text : typed;
  }
}

function constants(alternatives: JsonValue): readonly JsonValue[] {
  if (!Array.isArray(alternatives)) return [];
  const values = alternatives.map((one) => (isObject(one) ? one["const"] : undefined));
  return values.every((value) => value !== undefined) ? values : [];
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
