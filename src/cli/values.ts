/** JSON values on their way between a command line and the wire. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import type { DescMessage, JsonValue, MessageShape } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { jsonValue } from "../client/json-value.ts";
import { UsageError } from "./arguments.ts";
import { cut, safe } from "../platform/text.ts";

/** The documented JSON shape of a message: protobuf's own, with every field present. */
export function messageJson<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}

/** A user value from JSON text, `@FILE` or `-` for stdin. `name` is what the message calls it. */
export function readValue(name: string, given: string, cwd: string): Value {
  return toValue(name, parseJson(name, readText(name, given, cwd)));
}

export function toValue(name: string, json: JsonValue): Value {
  try {
    return jsonValue(json);
  } catch (error) {
    // Numbers beyond a double's range, and nesting that exhausts the stack.
    throw new UsageError(`${name} cannot be sent: ${(error as Error).message}`);
  }
}

export function parseJson(name: string, text: string): JsonValue {
  try {
    // JSON.parse makes JSON values and nothing else.
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    const hint = text.trim() === "" ? "it is empty" : safe((error as Error).message);
    throw new UsageError(`${name} is not JSON: ${cut(hint, 200)}`);
  }
}

function readText(name: string, given: string, cwd: string): string {
  if (given !== "-" && !given.startsWith("@")) return given;
  // Descriptor 0 is read to its end; a closed one is empty.
  const source = given === "-" ? 0 : resolve(cwd, given.slice(1));
  try {
    return readFileSync(source, "utf8");
  } catch (error) {
    const place = given === "-" ? "stdin" : given.slice(1);
    throw new UsageError(`${name} cannot be read from ${place}: ${(error as Error).message}`);
  }
}
