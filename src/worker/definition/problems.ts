import { parse } from "es-module-lexer";
import { fileURLToPath } from "node:url";
import { describeError } from "../../workflow/describe-error.ts";
import type { Problem } from "../../workflow/errors.ts";
import type { ProjectFile } from "./project-file.ts";
import type { LoadSession } from "./session.ts";

/** One finding in a workflow file; lines and columns are counted from 1. */
export interface LoadProblem {
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** Place in the definition, such as `nodes.build.retry`. */
  readonly place?: string;
}

interface Position {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** What esbuild says about a file, or why the file cannot be read. */
export function transformProblems(file: string, error: unknown): readonly LoadProblem[] {
  const errors = memberOf(error, "errors");
  if (!Array.isArray(errors)) return [{ message: describeError(error).message, file }];
  return (errors as readonly unknown[]).map((item) => {
    const location = memberOf(item, "location");
    const line = memberOf(location, "line");
    const column = memberOf(location, "column");
    return {
      message: String(memberOf(item, "text")),
      file,
      ...(typeof line === "number" ? { line } : {}),
      // esbuild counts columns from 0
      ...(typeof column === "number" ? { column: column + 1 } : {}),
    };
  });
}

/** An import that leads to no file, with the line on which the author wrote it. */
export function importProblem(importer: ProjectFile, specifier: string): LoadProblem {
  const message = `cannot find ${JSON.stringify(specifier)}, which is imported here`;
  return { message, ...positionOfImport(importer, specifier) };
}

/** What an import of the workflow file threw, as problems with a place wherever one is known. */
export async function problemsOf(
  session: LoadSession,
  thrown: unknown,
): Promise<readonly LoadProblem[]> {
  const failure = session.failures.find(({ error }) => error === thrown);
  const importer = failure === undefined ? undefined : session.prepared(failure.importer);
  if (failure !== undefined && importer !== undefined)
    return [failedImport(importer, failure.specifier, thrown)];
  const problems = memberOf(thrown, "problems");
  if (memberOf(thrown, "name") === "WorkflowDefinitionError" && Array.isArray(problems)) {
    const { file, ...at } = positionOfFrame(session, thrown) ?? { file: session.entry };
    // The name says which class this is, and that class holds a list of problems. The frame
    // is the call that defines the workflow, which is the line of no single part of it.
    return (problems as readonly Problem[]).map((problem) => ({
      ...problem,
      file,
      ...(problem.place === "" ? at : {}),
    }));
  }
  if (!(thrown instanceof SyntaxError)) return [thrownProblem(session, thrown)];
  const missing = missingExport(session, thrown);
  if (missing !== undefined) return [missing];
  const found = await syntaxProblems(session);
  if (found.length > 0) return found;
  return [{ message: `SyntaxError: ${thrown.message}`, file: session.entry }];
}

/** What the same definition is warned of; nothing of anything else that was thrown. */
export function warningsOf(session: LoadSession, thrown: unknown): readonly LoadProblem[] {
  const warnings = memberOf(thrown, "warnings");
  if (memberOf(thrown, "name") !== "WorkflowDefinitionError" || !Array.isArray(warnings)) return [];
  const { file } = positionOfFrame(session, thrown) ?? { file: session.entry };
  return (warnings as readonly Problem[]).map((warning) => ({ ...warning, file }));
}

function failedImport(importer: ProjectFile, specifier: string, thrown: unknown): LoadProblem {
  const problem = importProblem(importer, specifier);
  const code = memberOf(thrown, "code");
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") return problem;
  const { message } = describeError(thrown);
  return { ...problem, message: `cannot import ${JSON.stringify(specifier)}: ${message}` };
}

const MISSING_EXPORT = /requested module '([^']+)' does not provide an export named '([^']+)'/;

function missingExport(session: LoadSession, error: SyntaxError): LoadProblem | undefined {
  const importer = session.prepared(importerOf(error) ?? "");
  const [, specifier, name] = MISSING_EXPORT.exec(error.message) ?? [];
  if (importer === undefined || specifier === undefined) return undefined;
  return {
    message: `${JSON.stringify(specifier)} has no export named ${JSON.stringify(name)}`,
    ...positionOfImport(importer, specifier),
  };
}

/** Node does not say where a module's syntax is wrong; a parser that does is asked about all of them. */
async function syntaxProblems(session: LoadSession): Promise<readonly LoadProblem[]> {
  const plain = session.allPrepared().filter(({ path }) => /\.[cm]?js$/.test(path));
  const checked = await Promise.all(
    plain.map(async (file) => {
      try {
        await session.transformer.check(file);
        return [];
      } catch (error) {
        return transformProblems(file.path, error);
      }
    }),
  );
  return checked.flat();
}

function thrownProblem(session: LoadSession, thrown: unknown): LoadProblem {
  const { name, message } = describeError(thrown);
  const at = positionOfFrame(session, thrown) ?? { file: session.entry };
  return { message: `threw while it was loaded: ${name}: ${message}`, ...at };
}

/** Node puts the importing file and the line on the first line of such an error's stack. */
function importerOf(error: Error): string | undefined {
  const [, where] = /^(.+):\d+$/.exec(error.stack?.split("\n", 1)[0] ?? "") ?? [];
  return where?.startsWith("file:") === true ? fileURLToPath(where) : where;
}

/** The innermost place of a stack that is in a file of the workflow; source maps are applied by Node. */
function positionOfFrame(session: LoadSession, thrown: unknown): Position | undefined {
  const { stack = "" } = describeError(thrown);
  for (const line of stack.split("\n")) {
    const [, where, row, column] =
      /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^():]*):(\d+):(\d+)\)?$/.exec(line) ?? [];
    if (where === undefined) continue;
    const file = where.startsWith("file:") ? fileURLToPath(where) : where;
    if (session.prepared(file) !== undefined)
      return { file, line: Number(row), column: Number(column) };
  }
  return undefined;
}

/** Found in the text that the author wrote: the code that runs may have other lines. */
function positionOfImport({ path, bytes }: ProjectFile, specifier: string): Position {
  const text = new TextDecoder().decode(bytes);
  const start = startOfImport(text, specifier);
  if (start === undefined) return { file: path };
  const before = text.slice(0, start).split("\n");
  return { file: path, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function startOfImport(text: string, specifier: string): number | undefined {
  try {
    const [imports] = parse(text);
    const found = imports.find((it) => it.type !== "import-meta" && it.specifier === specifier);
    if (found !== undefined) return found.importStart;
  } catch {
    // A CommonJS file with syntax of its own: the text search below is good enough.
  }
  const at = text.indexOf(JSON.stringify(specifier));
  return at === -1 ? undefined : at;
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return key in value ? (value as Record<string, unknown>)[key] : undefined;
}
