import { resolve } from "node:path";
import { commandEnvironment } from "../../platform/command-environment.ts";
import { sha256Hex } from "../../platform/ids.ts";
import type { Context } from "../../workflow/context.ts";
import { requireTimeout } from "../../workflow/duration.ts";

/** Kept of stdout and of stderr each, when the author does not say. */
const OUTPUT_CHARS = 1_000_000;

/** More than this would not fit into a value either. */
const OUTPUT_CHARS_MAX = 8 * 1024 * 1024;

/** What is run, with nothing left to default. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly timeoutMs: number | null;
  readonly maxOutputChars: number;
}

/** A command as it is run, after everything the author's `exec` returned was checked. */
export interface PlannedCommand extends Command {
  readonly allowNonZeroExit: boolean;
}

/** Checks what `exec` returned and completes it; throws with the place of what is wrong. */
export function toCommand(returned: unknown, context: Context, node: string): PlannedCommand {
  const place = `nodes.${node}.exec`;
  if (typeof returned !== "object" || returned === null)
    throw new TypeError(`${place}: must return { command, … }, not ${String(returned)}`);
  const fields = returned as Readonly<Record<string, unknown>>;
  const stdin = inputOf(fields["stdin"], place);
  return {
    ...lineOf(fields, place),
    cwd: resolve(context.run.projectDir, optionalText(fields["cwd"], `${place}.cwd`) ?? "."),
    env: commandEnvironment(environmentOf(fields["env"], place)),
    ...(stdin === undefined ? {} : { stdin }),
    timeoutMs: requireTimeout(fields["timeoutMs"] ?? null, `${place}.timeoutMs`),
    maxOutputChars: outputChars(fields["maxOutputChars"], place),
    allowNonZeroExit: fields["allowNonZeroExit"] === true,
  };
}

/** What makes two runs of a command the same request: not its environment, which holds secrets. */
export function requestOf({ command, args, cwd, stdin }: PlannedCommand): unknown {
  return { command, args, cwd, stdin: stdin === undefined ? null : sha256Hex(stdin) };
}

/** Words of a command line; through a shell, arguments are quoted so that they stay one word each. */
function lineOf(
  fields: Readonly<Record<string, unknown>>,
  place: string,
): { readonly command: string; readonly args: readonly string[] } {
  const command = requireText(fields["command"], `${place}.command`);
  if (command === "") throw new TypeError(`${place}.command: must not be empty`);
  const args = argsOf(fields["args"], place);
  const { shell = false } = fields;
  if (shell === false) return { command, args };
  if (shell !== true && typeof shell !== "string")
    throw new TypeError(`${place}.shell: must be true, false or a path, not ${typeof shell}`);
  const line = [command, ...args.map(quoted)].join(" ");
  return { command: shell === true ? "/bin/sh" : shell, args: ["-c", line] };
}

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", String.raw`'\''`)}'`;
}

function argsOf(args: unknown, place: string): readonly string[] {
  if (args === undefined) return [];
  if (!Array.isArray(args)) throw new TypeError(`${place}.args: must be an array`);
  return args.map((argument: unknown, index) => requireText(argument, `${place}.args[${index}]`));
}

function environmentOf(env: unknown, place: string): Readonly<Record<string, string | undefined>> {
  if (env === undefined) return {};
  if (typeof env !== "object" || env === null)
    throw new TypeError(`${place}.env: must be an object`);
  const entries = Object.entries(env).map(
    ([name, value]: [string, unknown]) =>
      [name, optionalText(value, `${place}.env.${name}`)] as const,
  );
  return Object.fromEntries(entries);
}

function inputOf(stdin: unknown, place: string): string | Uint8Array | undefined {
  if (stdin === undefined || typeof stdin === "string" || stdin instanceof Uint8Array) return stdin;
  throw new TypeError(`${place}.stdin: must be a text or bytes, not ${typeof stdin}`);
}

function outputChars(value: unknown, place: string): number {
  if (value === undefined) return OUTPUT_CHARS;
  const isWhole = typeof value === "number" && Number.isSafeInteger(value);
  if (isWhole && value >= 0 && value <= OUTPUT_CHARS_MAX) return value;
  throw new RangeError(`${place}.maxOutputChars: must be a whole number up to ${OUTPUT_CHARS_MAX}`);
}

function optionalText(value: unknown, place: string): string | undefined {
  return value === undefined ? undefined : requireText(value, place);
}

/** A zero byte would end the text early, in the middle of a path or an argument. */
function requireText(value: unknown, place: string): string {
  if (typeof value !== "string")
    throw new TypeError(`${place}: must be a text, not ${typeof value}`);
  if (value.includes("\0")) throw new TypeError(`${place}: must not hold a zero byte`);
  return value;
}
