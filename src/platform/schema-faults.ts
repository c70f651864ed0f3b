/** What a validator found in a value, in words and with its place. */
import type { ErrorObject } from "ajv";

export interface SchemaFault {
  readonly place: string;
  readonly message: string;
}

/** A value that fits nowhere can have a fault for each of its members. */
const FAULTS_MAX = 20;
const VALUES_MAX = 20;
const WORD_CHARS_MAX = 80;

/** One for each thing that is wrong, its place as a path below `root`. */
export function schemaFaults(root: string, errors: readonly ErrorObject[]): readonly SchemaFault[] {
  const faults = withoutEchoes(errors).map((error) => ({
    place: placeOf(root, error),
    message: wordsOf(error),
  }));
  const more = faults.length - FAULTS_MAX;
  if (more <= 0) return faults;
  return [...faults.slice(0, FAULTS_MAX), { place: root, message: `has ${more} more faults` }];
}

/** That one of several branches failed is said by the faults of the branches. */
function withoutEchoes(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const real = errors.filter(({ keyword }) => keyword !== "if");
  return real.length === 0 ? errors : real;
}

function placeOf(root: string, { instancePath }: ErrorObject): string {
  const names = instancePath.split("/").slice(1).map(unescapePointer);
  return names.reduce((place, name) => {
    if (/^\d+$/.test(name)) return `${place}[${name}]`;
    return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name)
      ? `${place}.${shortened(name)}`
      : `${place}[${JSON.stringify(shortened(name))}]`;
  }, root);
}

function unescapePointer(name: string): string {
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The validator's own sentence, with what it leaves out: which property, and which values. */
function wordsOf({ keyword, params, message = "does not fit" }: ErrorObject): string {
  // What the parameters hold depends on the keyword; each is looked at before it is used.
  const given = params as Readonly<Record<string, unknown>>;
  switch (keyword) {
    case "required":
      return `must have the property ${quoted(given["missingProperty"])}`;
    case "additionalProperties":
      return `must not have the property ${quoted(given["additionalProperty"])}`;
    case "unevaluatedProperties":
      return `must not have the property ${quoted(given["unevaluatedProperty"])}`;
    case "enum":
      return `must be one of ${listed(given["allowedValues"])}`;
    case "const":
      return `must be ${quoted(given["allowedValue"])}`;
    case "propertyNames":
      return `must not have a property of the name ${quoted(given["propertyName"])}`;
    default:
      return message;
  }
}

function listed(values: unknown): string {
  if (!Array.isArray(values)) return "the allowed values";
  const shown = (values as readonly unknown[]).slice(0, VALUES_MAX).map(quoted);
  const more = values.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

function quoted(value: unknown): string {
  return shortened(JSON.stringify(value) ?? "nothing");
}

function shortened(text: string): string {
  return text.length > WORD_CHARS_MAX ? `${text.slice(0, WORD_CHARS_MAX).toWellFormed()}…` : text;
}
