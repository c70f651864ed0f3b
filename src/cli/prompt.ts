/** Asking the person at the terminal. Callers make sure that there is one. */
import { createInterface } from "node:readline";
import type { JsonValue } from "@bufbuild/protobuf";

/** The line that was typed; absent when the person left with Ctrl-C or Ctrl-D. */
export async function ask(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  return await new Promise((resolve) => {
    lines.once("close", () => resolve(undefined));
    lines.once("SIGINT", () => lines.close());
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

/** True only for a plain yes. */
export async function confirm(question: string): Promise<boolean> {
  const answer = await ask(`${question} [y/N] `);
  return answer !== undefined && /^y(?:es)?$/i.test(answer.trim());
}

/** The texts that a schema allows, when it allows nothing else. */
export function choicesOf(schema: JsonValue): readonly string[] {
  if (!isObject(schema)) return [];
  const values = schema["enum"] ?? constants(schema["oneOf"] ?? schema["anyOf"] ?? null);
  if (!Array.isArray(values)) return [];
  const texts = values.filter((value) => typeof value === "string");
  return texts.length === values.length ? texts : [];
}

/** What a typed line means as an answer: by number or name of a choice, as JSON, or as text. */
export function answerOf(typed: string, schema: JsonValue): JsonValue {
  const text = typed.trim();
  const choices = choicesOf(schema);
  if (choices.length > 0) return choices[Number(text) - 1] ?? text;
  if (isObject(schema) && schema["type"] === "string") return typed;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Not JSON, so it is meant as text; the host checks whether text will do.
    return typed;
  }
}

function constants(alternatives: JsonValue): readonly JsonValue[] | null {
  if (!Array.isArray(alternatives)) return null;
  const values = alternatives.map((one) => (isObject(one) ? one["const"] : undefined));
  return values.every((value) => value !== undefined) ? values : null;
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
