/** Reading a command line. What does not fit is told with the way to the help. */
import { parseArgs } from "node:util";
import type { Command, Options } from "./command.ts";
import { didYouMean, nearNames } from "./near-names.ts";

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What is asked makes no sense in the present state of things. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** Something that was named is not there. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

/** Options that every command takes. */
export const COMMON_OPTIONS: Options = {
  json: { type: "boolean", help: "Print JSON, one document per line (docs/cli.md)" },
  help: { type: "boolean", help: "Show the help of this command" },
};

/** The arguments of one command, checked against what it declares. */
export class Arguments {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];

  constructor(values: Readonly<Record<string, unknown>>, positionals: readonly string[]) {
    this.#values = values;
    this.positionals = positionals;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  list(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }

  /** A positional argument that the command declares as required. */
  required(index: number): string {
    return this.positionals[index] ?? "";
  }
}

export function parseArguments(command: Command, argv: readonly string[]): Arguments {
  const options = { ...command.options, ...COMMON_OPTIONS };
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: {
        ...Object.fromEntries(
          Object.entries(options).map(([name, { type, multiple }]) => [
            name,
            { type, multiple: multiple === true },
          ]),
        ),
        help: { type: "boolean", short: "h" },
      },
      allowPositionals: true,
      strict: true,
    });
    if (values["help"] !== true) checkPositionals(command, positionals);
    return new Arguments(values, positionals);
  } catch (error) {
    if (!isParseError(error)) throw error;
    throw new UsageError(inOurWords(error, options));
  }
}

/** A whole number within bounds. */
export function integer(
  name: string,
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = Number(text);
  if (/^[+-]?\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`--${name} must be a whole number from ${min} to ${max}, not "${text}"`);
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const declared = command.positionals ?? [];
  const missing = declared.find(({ optional }, index) => !optional && given[index] === undefined);
  if (missing !== undefined) throw new UsageError(`${missing.name} is missing`);
  const extra = given[declared.length];
  if (extra !== undefined) throw new UsageError(`"${extra}" is one argument too many`);
  const empty = given.findIndex((text) => text === "");
  if (empty >= 0) throw new UsageError(`${declared[empty]?.name} is empty`);
}

function isParseError(error: unknown): error is Error {
  return (
    error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")
  );
}

/** Node tells of options it does not know, and of values that are missing or look like options. */
function inOurWords({ message }: Error, options: Options): string {
  const [first = message] = message.split(". To specify a positional");
  const unknown = /^Unknown option '(--?[^']*)'/.exec(first)?.[1];
  if (unknown !== undefined) {
    const near = nearNames(unknown.slice(2), Object.keys(options)).map((name) => `--${name}`);
    return `there is no option ${unknown}${didYouMean(near)}`;
  }
  const name = /^Option '(?:-\w, )?--([\w-]+)[^']*' (?:argument|.*ambiguous)/s.exec(first)?.[1];
  if (name === undefined) return first;
  const value = options[name]?.value ?? "VALUE";
  return `--${name} needs a value: --${name} ${value}; one that begins with - is written --${name}=${value}`;
}
