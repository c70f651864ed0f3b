/** A question of a run: what is asked, with what, and what an answer may be. */
import type { JsonValue } from "@bufbuild/protobuf";
import type {
  HumanChoice,
  Interaction,
  TextInput,
} from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import { choicesOf } from "../../client/answer-choices.ts";
import { plural, safe } from "../../platform/text.ts";
import { valueJson } from "../../client/json-value.ts";
import { indented, schemaLines, valueLines } from "../../client/value-lines.ts";

const INDENT = "  ";

/** The request as the workflow built it; nothing when it built none. */
export function requestLines({ request }: Interaction): readonly string[] {
  const json = valueJson(request);
  return json === null ? [] : indented(valueLines(json));
}

/** The choices of a human decision, with what each asks for. */
export function choiceLines({ choices }: Interaction): readonly string[] {
  return choices.map((choice) => `${INDENT}- ${choiceText(choice)}`);
}

/** "Send it back (reject), with a text of 10 to 500 characters". */
export function choiceText({ label, id, input }: HumanChoice): string {
  const text = input === undefined ? "" : `, with a text of ${limitsOf(input)}`;
  return `${safe(label)} (${safe(id)})${text}`;
}

/** How long a text may be, in words. */
export function limitsOf({ minLength, maxLength }: TextInput): string {
  if (maxLength === 0) return `at least ${plural(minLength, "character")}`;
  return minLength === 0
    ? `at most ${plural(maxLength, "character")}`
    : `${minLength} to ${plural(maxLength, "character")}`;
}

/** What the answer must be; nothing when anything goes. */
export function answerLines({ schema }: Interaction): readonly string[] {
  const json = valueJson(schema);
  if (json === null) return [];
  const choices = choicesOf(json);
  if (choices.length > 0) {
    return [`${INDENT}the answer is one of: ${choices.map(({ label }) => safe(label)).join(", ")}`];
  }
  const lines = schemaLines(json);
  const [only = ""] = lines;
  return lines.length === 1
    ? [`${INDENT}the answer must fit: ${only}`]
    : [`${INDENT}the answer must fit:`, ...indented(indented(lines))];
}

/** What may be typed at the prompt, for somebody who has not read any documentation. */
export function typingHint(schema: JsonValue): string {
  const choices = choicesOf(schema);
  if (choices.length > 0) {
    const isNumbered = choices.some(({ number }) => number !== undefined);
    return isNumbered ? "type a number or a choice" : "type one of them";
  }
  if (isText(schema)) return "type the text";
  return takesText(schema) ? "type JSON, or plain text" : "type JSON";
}

function isText(schema: JsonValue): boolean {
  return typeOf(schema) === "string";
}

/** Without a type a schema says nothing against a text. */
function takesText(schema: JsonValue): boolean {
  if (schema === false) return false;
  const type = typeOf(schema);
  if (Array.isArray(type)) return type.includes("string");
  return type === undefined && !has(schema, "properties") && !has(schema, "required");
}

function typeOf(schema: JsonValue): JsonValue | undefined {
  return isObject(schema) ? schema["type"] : undefined;
}

function has(schema: JsonValue, name: string): boolean {
  return isObject(schema) && name in schema;
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
