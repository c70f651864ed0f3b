/** Whether an answer fits the JSON Schema that its question stored. */
import { compileSchema, SchemaTimeout, SchemaUnusable } from "../platform/json-schema.ts";
import type { SchemaCheck } from "../platform/json-schema.ts";
import { HostError } from "./errors.ts";
import { SCHEMA_BYTES_MAX, SCHEMA_CHECK_MS } from "./limits.ts";

const LIMITS = { bytesMax: SCHEMA_BYTES_MAX, checkMs: SCHEMA_CHECK_MS, root: "answer" };
const CHECKS_KEPT = 32;
const checks = new Map<string, SchemaCheck>();

/** Throws ANSWER_INVALID with all that does not fit and where. */
export async function checkAnswer(
  schemaJson: string,
  answerJson: string,
  about: { readonly runId?: string } = {},
): Promise<void> {
  try {
    const problems = (await checkFor(schemaJson))(answerJson);
    if (problems.length === 0) return;
    const message = problems.map(({ place, message: what }) => `${place} ${what}`).join("; ");
    throw new HostError("ANSWER_INVALID", message, { ...about, problems });
  } catch (error) {
    throw refusal(error);
  }
}

async function checkFor(schemaJson: string): Promise<SchemaCheck> {
  const known = checks.get(schemaJson);
  if (known !== undefined) return known;
  const check = await compileSchema(schemaJson, LIMITS);
  const [oldest] = checks.keys();
  if (checks.size >= CHECKS_KEPT && oldest !== undefined) checks.delete(oldest);
  checks.set(schemaJson, check);
  return check;
}

function refusal(error: unknown): unknown {
  if (error instanceof SchemaTimeout)
    return new HostError("ANSWER_INVALID", `the answer ${error.message}`);
  if (!(error instanceof SchemaUnusable)) return error;
  const message = `the schema of this checkpoint cannot be used (${error.message}), so no answer fits`;
  return new HostError("ANSWER_INVALID", message);
}
