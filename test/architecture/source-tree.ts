import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { parse } from "es-module-lexer/js";

/** One import as written in a source file. */
export interface SourceImport {
  /** A path from the root of the repository, or the name of a package or Node module. */
  readonly target: string;
  readonly typeOnly: boolean;
}

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export const ROOT = join(import.meta.dirname, "../..");

/** Every hand-written TypeScript file below `folder`. */
export function sourceFiles(folder: string): readonly SourceFile[] {
  return filesBelow(folder)
    .filter((path) => path.endsWith(".ts") && !path.startsWith("src/gen/"))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

/** Paths of all files below `folder`, from the root of the repository. */
export function filesBelow(folder: string): readonly string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
    .toSorted();
}

/** What a file imports, static, re-exported and dynamic with a literal name. */
export function importsOf(file: SourceFile): readonly SourceImport[] {
  const [imports] = parse(file.text, file.path);
  return imports.flatMap((found) => {
    if (found.type === "import-meta" || found.specifier === undefined) return [];
    const typeOnly = found.type === "dynamic" ? found.probablyTypeOnly : found.typeOnly;
    return [{ target: resolve(file.path, found.specifier), typeOnly }];
  });
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith(".")) return join(dirname(from), specifier).replaceAll(sep, "/");
  if (specifier.startsWith("node:")) return specifier;
  // A deep import still is an import of its package.
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
