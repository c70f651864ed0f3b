import { compileSchema } from "../../platform/json-schema.ts";
import type { StandardIssue, StandardSchema } from "../../workflow/agent.ts";
import { isFields, memberPlace } from "../../workflow/findings.ts";
import type { JsonSchema } from "../../workflow/node-options.ts";
import { SCHEMA_LIMITS } from "./limits.ts";

/** A value is no valid result. The message is for whoever submitted it. */
export class InvalidResult extends Error {
  override readonly name = "InvalidResult";
}

/** Throws `InvalidResult` with everything that does not fit. */
export async function fitsJsonSchema(schema: JsonSchema, valueJson: string): Promise<void> {
  // It was compiled when the run was started.
  const check = await compileSchema(JSON.stringify(schema), { ...SCHEMA_LIMITS, known: true });
  const faults = check(valueJson);
  if (faults.length === 0) return;
  throw new InvalidResult(faults.map(({ place, message }) => `${place} ${message}`).join("; "));
}

/** What the schema makes of the value; throws `InvalidResult` with everything that does not fit. */
export async function fitsStandardSchema(schema: StandardSchema, value: unknown): Promise<unknown> {
  const result = await schema["~standard"].validate(value);
  if (result.issues !== undefined) throw new InvalidResult(listed(result.issues));
  return result.value;
}

/** The issues of an error as schema libraries throw it, in words; `undefined` for other errors. */
export function issuesText(thrown: unknown): string | undefined {
  try {
    if (!isFields(thrown)) return undefined;
    const { issues } = thrown;
    if (!Array.isArray(issues) || issues.length === 0 || !issues.every(isIssue)) return undefined;
    return listed(issues);
  } catch {
    // What cannot be read is told by its message.
    return undefined;
  }
}

function isIssue(issue: unknown): issue is StandardIssue {
  if (!isFields(issue) || typeof issue["message"] !== "string") return false;
  return issue["path"] === undefined || Array.isArray(issue["path"]);
}

/** More than these are not read by anybody. */
const ISSUES_MAX = 20;

function listed(issues: readonly StandardIssue[]): string {
  const lines = issues.slice(0, ISSUES_MAX).map(issueLine);
  const more = issues.length - lines.length;
  return more > 0 ? `${lines.join("; ")}; and ${more} more` : lines.join("; ");
}

function issueLine({ message, path = [] }: StandardIssue): string {
  const place = path.reduce<string>((before, step) => {
    const key = typeof step === "object" ? step.key : step;
    return typeof key === "number" ? `${before}[${key}]` : memberPlace(before, String(key));
  }, "value");
  return `${place}: ${message}`;
}
