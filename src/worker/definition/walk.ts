import { parse } from "es-module-lexer";
import { describeError } from "../../workflow/describe-error.ts";
import { importProblem, transformProblems } from "./problems.ts";
import type { LoadProblem } from "./problems.ts";
import { resolveLocal } from "./local-path.ts";
import type { LoadSession, PreparedFile } from "./session.ts";
import { SourceChangedError, packageRootOf } from "./sources.ts";

/**
 * Reads, hashes and transforms everything that the entry file reaches by static
 * imports, all at once, before anything is evaluated. What is found wrong on the
 * way is returned, of all files together.
 */
export async function walk(session: LoadSession): Promise<readonly LoadProblem[]> {
  const problems: LoadProblem[] = [];
  const begun = new Set<string>();
  const isRecorded = (path: string): boolean => session.hasRecordedBytes(path);

  async function visit(path: string): Promise<void> {
    if (begun.has(path) || packageRootOf(path) !== undefined) return;
    begun.add(path);
    const file = await prepared(session, path, problems);
    if (file?.format === "json") problems.push(...jsonProblems(file));
    if (file?.format !== "module") return;
    const next: string[] = [];
    for (const specifier of staticImports(file)) {
      const target = resolveLocal(specifier, path, isRecorded);
      if (target.kind === "missing") problems.push(importProblem(file, specifier));
      else if (target.kind === "file") next.push(target.path);
    }
    await Promise.all(next.map(visit));
  }

  await visit(session.entry);
  return problems;
}

async function prepared(
  session: LoadSession,
  path: string,
  problems: LoadProblem[],
): Promise<PreparedFile | undefined> {
  try {
    return await session.prepare(path);
  } catch (error) {
    if (error instanceof SourceChangedError) throw error;
    problems.push(...transformProblems(path, error));
    return undefined;
  }
}

function jsonProblems({ path, code }: PreparedFile): readonly LoadProblem[] {
  try {
    JSON.parse(code);
    return [];
  } catch (error) {
    return [{ message: `cannot be read as JSON: ${describeError(error).message}`, file: path }];
  }
}

/** What the evaluated code imports: imports of types alone are gone from it. */
function staticImports({ code }: PreparedFile): readonly string[] {
  try {
    const [imports] = parse(code);
    return imports.flatMap((found) =>
      found.type === "static" || found.type === "reexport-star" ? [found.specifier] : [],
    );
  } catch {
    // Node reports what it cannot parse, with its line.
    return [];
  }
}
