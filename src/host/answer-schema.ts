/**
 * Whether an answer fits the JSON Schema (2020-12) that its question stored.
 *
 * The schema is the author's and the answer anybody's, so both the compiling
 * and the checking of one run under a time limit: a pattern that never ends
 * must not hold up the host.
 */
import { createContext, runInContext } from "node:vm";
import type { ErrorObject } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import { answerFaults } from "./answer-faults.ts";
import { HostError } from "./errors.ts";
import type { WorkflowProblem } from "./errors.ts";
import { SCHEMA_BYTES_MAX, SCHEMA_CHECK_MS } from "./limits.ts";

type Check = (answerJson: string) => readonly WorkflowProblem[];

/** Of a longer answer only the first fault is told: each costs memory. */
const ALL_FAULTS_CHARS_MAX = 65_536;

const CHECKS_KEPT = 32;
const checks = new Map<string, Check>();

/** Throws ANSWER_INVALID with all that does not fit and where. */
export async function checkAnswer(
  schemaJson: string,
  answerJson: string,
  about: { readonly runId?: string } = {},
): Promise<void> {
  const check = await checkFor(schemaJson);
  const problems = check(answerJson);
  if (problems.length === 0) return;
  const message = problems.map(({ place, message: what }) => `${place} ${what}`).join("; ");
  throw new HostError("ANSWER_INVALID", message, { ...about, problems });
}

async function checkFor(schemaJson: string): Promise<Check> {
  const known = checks.get(schemaJson);
  if (known !== undefined) return known;
  const check = await compile(schemaJson);
  const [oldest] = checks.keys();
  if (checks.size >= CHECKS_KEPT && oldest !== undefined) checks.delete(oldest);
  checks.set(schemaJson, check);
  return check;
}

async function compile(schemaJson: string): Promise<Check> {
  if (Buffer.byteLength(schemaJson) > SCHEMA_BYTES_MAX) {
    throw unusable(`it is larger than ${SCHEMA_BYTES_MAX} bytes`);
  }
  // A tenth of the host's start, for the few who need it.
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const options = { strict: false, validateFormats: false, logger: false } as const;
  const ajv = new Ajv2020(options);
  // Our own part of the work, which does not count against the author's schema.
  ajv.compile({});
  const schema = limited(() => parsedSchema(schemaJson));
  try {
    const validate = limited(() => ajv.compile(schema));
    return (answerJson) => {
      const answer = JSON.parse(answerJson) as unknown;
      if (limited(() => validate(answer))) return [];
      const first = validate.errors ?? [];
      if (answerJson.length > ALL_FAULTS_CHARS_MAX) return answerFaults(first);
      return answerFaults(allErrors(new Ajv2020({ ...options, allErrors: true }), schema, answer));
    };
  } catch (error) {
    throw error instanceof HostError ? error : unusable((error as Error).message);
  }
}

function parsedSchema(schemaJson: string): object | boolean {
  try {
    // What else it may be is refused by the compiler.
    return JSON.parse(schemaJson) as object | boolean;
  } catch (error) {
    throw unusable((error as Error).message);
  }
}

/** Everything that is wrong, so that nobody has to answer once for each fault. */
function allErrors(
  ajv: Ajv2020,
  schema: object | boolean,
  answer: unknown,
): readonly ErrorObject[] {
  const validate = ajv.compile(schema);
  limited(() => validate(answer));
  return validate.errors ?? [];
}

/** Runs on this thread, and is ended when it takes too long. */
function limited<T>(run: () => T): T {
  const sandbox = createContext({ run });
  try {
    // What the sandbox returns is what `run` does.
    return runInContext("run()", sandbox, { timeout: SCHEMA_CHECK_MS }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new HostError(
      "ANSWER_INVALID",
      `the answer could not be checked against its schema within ${SCHEMA_CHECK_MS} ms`,
    );
  }
}

function unusable(problem: string): HostError {
  const message = `the schema of this checkpoint cannot be used (${problem}), so no answer fits`;
  return new HostError("ANSWER_INVALID", message);
}
