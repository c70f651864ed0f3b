/** User values between the wire, where clients see plain JSON, and the store, which keeps text. */
import { create, fromJson, toJson } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Value } from "@bufbuild/protobuf/wkt";
import { VIEW_TEXT_CHARS_MAX, WIRE_DEPTH_MAX } from "../limits.ts";
import type { ValueRef } from "../records.ts";
import { checkValueSize, invalid } from "./checks.ts";

/** Where stored values are read; the store's own reader fits. */
export interface ValueReader {
  read(ref: ValueRef): string;
  head(ref: ValueRef, chars: number): { readonly text: string; readonly whole: boolean };
}

/** A value as a view shows it: whole, or the beginning of its JSON text. */
export interface CutValue {
  readonly value: Value;
  readonly truncated: boolean;
}

/** JSON text of what a client sent; absent means null. */
export function jsonOf(field: string, value: Value | undefined): string {
  if (value === undefined) return "null";
  let json: JsonValue;
  try {
    json = toJson(ValueSchema, value);
  } catch {
    throw invalid(field, "holds something JSON cannot say, such as NaN or a value without a kind");
  }
  return checkValueSize(field, JSON.stringify(json));
}

/** A stored value for the wire, whole. */
export function valueOf(json: string): Value {
  // The text was checked to be JSON when it was stored.
  return fromJson(ValueSchema, JSON.parse(json) as JsonValue, { recursionLimit: WIRE_DEPTH_MAX });
}

export function readValue(values: ValueReader, ref: ValueRef): Value {
  return valueOf(values.read(ref));
}

/** A stored value for a view. What does not fit is shown as text and marked. */
export function readCutValue(values: ValueReader, ref: ValueRef): CutValue {
  const head = values.head(ref, VIEW_TEXT_CHARS_MAX);
  if (head.whole) return { value: valueOf(head.text), truncated: false };
  const value = create(ValueSchema, { kind: { case: "stringValue", value: `${head.text}…` } });
  return { value, truncated: true };
}

/** Text for a view, cut where it is longer than a view shows. */
export function cutText(text: string): string {
  return text.length <= VIEW_TEXT_CHARS_MAX ? text : `${text.slice(0, VIEW_TEXT_CHARS_MAX)}…`;
}
