/**
 * Whether a value fits a JSON Schema: 2020-12, or an older draft that the schema
 * names.
 *
 * The schema is an author's and the value anybody's, so both the compiling and
 * the checking of one run under a time limit: a pattern that never ends must not
 * hold up the process.
 */
import { createContext, runInContext } from "node:vm";
import type { Ajv, ErrorObject, Options } from "ajv";
import { schemaFaults } from "./schema-faults.ts";
import type { SchemaFault } from "./schema-faults.ts";

export type { SchemaFault } from "./schema-faults.ts";

/** Says what does not fit, given a value as JSON text. */
export type SchemaCheck = (valueJson: string) => readonly SchemaFault[];

export interface SchemaLimits {
  /** Longest schema, as UTF-8 bytes of its JSON text. */
  readonly bytesMax: number;
  /** Longest time that compiling, or one check, may take. */
  readonly checkMs: number;
  /** What the value is called in the places of faults. */
  readonly root: string;
  /** The schema was compiled before, so it is not held against its own rules again. */
  readonly known?: boolean;
}

/** The schema itself is of no use. */
export class SchemaUnusable extends Error {
  override readonly name = "SchemaUnusable";
}

/** Compiling the schema or checking a value against it took too long. */
export class SchemaTimeout extends Error {
  override readonly name = "SchemaTimeout";
}

/** Of a longer value only the first fault is told: each costs memory. */
const ALL_FAULTS_CHARS_MAX = 65_536;
const OPTIONS: Options = { strict: false, validateFormats: false, logger: false };

/** Compiles a schema. Throws `SchemaUnusable`, and where it takes too long `SchemaTimeout`. */
export async function compileSchema(
  schemaJson: string,
  limits: SchemaLimits,
): Promise<SchemaCheck> {
  const { bytesMax, checkMs, root } = limits;
  if (Buffer.byteLength(schemaJson) > bytesMax)
    throw new SchemaUnusable(`it is larger than ${bytesMax} bytes`);
  const limited = <T>(run: () => T): T => withinTime(run, checkMs);
  try {
    const schema = limited(() => JSON.parse(schemaJson) as object | boolean);
    const create = await compilerFor(schema);
    const ajv = create({ ...OPTIONS, validateSchema: limits.known !== true });
    const validate = limited(() => ajv.compile(schema));
    return (valueJson) => {
      const value = JSON.parse(valueJson) as unknown;
      if (limited(() => validate(value))) return [];
      if (valueJson.length > ALL_FAULTS_CHARS_MAX) return schemaFaults(root, validate.errors ?? []);
      // Everything that is wrong, so that nobody has to answer once for each fault.
      const every = create({ ...OPTIONS, allErrors: true, validateSchema: false });
      return schemaFaults(
        root,
        limited(() => errorsOf(every, schema, value)),
      );
    };
  } catch (error) {
    if (error instanceof SchemaTimeout) throw error;
    throw new SchemaUnusable((error as Error).message);
  }
}

/** Loaded by the few who need it: a tenth of a process's start. */
async function compilerFor(schema: object | boolean): Promise<(options: Options) => Ajv> {
  if (OLDER_DRAFT.test(dialectOf(schema))) {
    const { Ajv: Ajv07 } = await import("ajv");
    return (options) => ready(new Ajv07(options));
  }
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  return (options) => ready(new Ajv2020(options));
}

/** Does our own part of the work, which does not count against the author's schema. */
function ready<Compiler extends Ajv>(ajv: Compiler): Compiler {
  ajv.compile({});
  return ajv;
}

const OLDER_DRAFT = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

function dialectOf(schema: object | boolean): string {
  const stated: unknown =
    typeof schema === "object" && "$schema" in schema ? schema.$schema : undefined;
  return typeof stated === "string" ? stated : "";
}

function errorsOf(ajv: Ajv, schema: object | boolean, value: unknown): readonly ErrorObject[] {
  const validate = ajv.compile(schema);
  validate(value);
  return validate.errors ?? [];
}

/** Runs on this thread, and is ended when it takes too long. */
function withinTime<T>(run: () => T, ms: number): T {
  const sandbox = createContext({ run });
  try {
    // What the sandbox returns is what `run` does.
    return runInContext("run()", sandbox, { timeout: ms }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new SchemaTimeout(`could not be checked against its schema within ${ms} ms`);
  }
}
