import { describeError } from "./describe-error.ts";
import { isFields, shown } from "./findings.ts";
import type { Fields, Findings } from "./findings.ts";
import { toJson, withoutSymbols } from "./json.ts";

/** Notes what is wrong at a place, where something is. */
export function report(findings: Findings, place: string, message: string | undefined): void {
  if (message !== undefined) findings.problems.push({ place, message });
}

export function requireFunction(
  findings: Findings,
  place: string,
  fields: Fields,
  field: string,
): void {
  const value = fields[field];
  if (!isFunction(value))
    report(findings, `${place}.${field}`, `must be a function, not ${shown(value)}`);
}

export function allowFunction(
  findings: Findings,
  place: string,
  fields: Fields,
  field: string,
): void {
  if (fields[field] !== undefined) requireFunction(findings, place, fields, field);
}

/** A text, or a function that makes one. */
export function requireText(
  findings: Findings,
  place: string,
  fields: Fields,
  field: string,
): void {
  const value = fields[field];
  if (isFunction(value) || (typeof value === "string" && value.trim() !== "")) return;
  report(findings, `${place}.${field}`, `must be a text or a function, not ${shown(value)}`);
}

/** A JSON Schema as data; whether it can be compiled is asked when the file is loaded. */
export function checkSchema(findings: Findings, place: string, schema: unknown): void {
  if (schema === undefined || typeof schema === "boolean") return;
  if (!isFields(schema)) {
    report(findings, place, `must be a JSON Schema, not ${shown(schema)}`);
    return;
  }
  try {
    toJson(withoutSymbols(schema), "");
  } catch (error) {
    const { message } = describeError(error);
    report(findings, place, `must be a JSON Schema in plain JSON: ${message}`);
  }
}

export function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

export function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}
