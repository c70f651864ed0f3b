/** JSON values on their way to and from the wire. */
import { fromJson, toJson } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Value } from "@bufbuild/protobuf/wkt";

/** Three levels on the wire for each of the 500 that a value may have. */
const DEPTH_MAX = 2_000;

/** What a user value holds; absent means null. */
export function valueJson(value: Value | undefined): JsonValue {
  return value === undefined || value.kind.case === undefined ? null : toJson(ValueSchema, value);
}

/** A user value for the wire. Throws for numbers beyond a double's range and endless nesting. */
export function jsonValue(json: JsonValue): Value {
  refuseInfinite(json);
  return fromJson(ValueSchema, json, { recursionLimit: DEPTH_MAX });
}

/** JSON text may hold 1e999, which becomes what JSON cannot hold. */
function refuseInfinite(json: JsonValue): void {
  if (typeof json === "number" && !Number.isFinite(json)) {
    throw new RangeError("it holds a number that is too large");
  }
  if (typeof json !== "object" || json === null) return;
  for (const member of Object.values(json)) refuseInfinite(member);
}
