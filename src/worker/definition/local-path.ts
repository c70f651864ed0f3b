import { realpathSync, statSync } from "node:fs";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Where a specifier leads: to a file, nowhere, or to something that only Node can find. */
export type LocalPath =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "missing" }
  | { readonly kind: "package" };

/**
 * Resolves a specifier that names a file: relative, absolute or a `file:` URL.
 *
 * The exact file wins; then a TypeScript file behind a JavaScript name, a name
 * without its extension, and the index of a folder, as bundlers resolve them.
 * `exists` knows files that are recorded and need not be on the disk any more.
 */
export function resolveLocal(
  specifier: string,
  importer: string,
  recorded: (path: string) => boolean,
): LocalPath {
  const target = targetOf(specifier, importer);
  if (target === undefined) return { kind: "package" };
  const path = findFile(target, recorded);
  return path === undefined ? { kind: "missing" } : { kind: "file", path };
}

/** The first file that a path may stand for. */
export function findFile(target: string, recorded: (path: string) => boolean): string | undefined {
  for (const candidate of candidatesOf(target)) {
    if (recorded(candidate)) return candidate;
    const path = realFile(candidate);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** The real path of a file, through symbolic links, or `undefined` when it is no file. */
export function realFile(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? realpathSync(path) : undefined;
  } catch {
    // What cannot be looked at cannot be loaded either.
    return undefined;
  }
}

function targetOf(specifier: string, importer: string): string | undefined {
  // A query would make another module of the same file; it is not part of the path.
  const [path = ""] = specifier.split(/[?#]/, 1);
  if (specifier.startsWith("file:")) return fileURLToPath(specifier);
  if (/^\.\.?(?:\/|$)/.test(path)) return resolve(dirname(importer), decode(path));
  return isAbsolute(path) ? decode(path) : undefined;
}

/** Specifiers of modules are URLs, in which a space may be written %20. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx", ".json"];

/** Which TypeScript file may stand behind a JavaScript name. */
const BEHIND: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx"],
  ".jsx": [".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};

function* candidatesOf(target: string): Generator<string> {
  yield target;
  const extension = extname(target);
  const stem = target.slice(0, target.length - extension.length);
  for (const behind of BEHIND[extension] ?? []) yield stem + behind;
  for (const added of EXTENSIONS) yield target + added;
  for (const added of EXTENSIONS) yield join(target, `index${added}`);
}
