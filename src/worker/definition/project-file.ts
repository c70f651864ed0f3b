import { readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { parse } from "es-module-lexer";
import { sha256Hex } from "../../platform/ids.ts";
import { SourceChangedError, differenceOf, isMissing, readManifest } from "./sources.ts";
import type { RecordedSource } from "./sources.ts";

/** The bytes of one project file, read once: what is hashed is what is evaluated. */
export interface ProjectFile {
  readonly path: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
  /** False for bytes that a run recorded and that replace the disk's. */
  readonly isFromDisk: boolean;
}

/** What a run recorded earlier, and where recorded bytes come from when they replace the disk. */
export interface Recorded {
  source(path: string): RecordedSource | undefined;
  bytes?(digest: string): Uint8Array | undefined;
}

/** Reads a project file, or throws `SourceChangedError` when it is not the one that was recorded. */
export function readProjectFile(path: string, recorded: Recorded): ProjectFile {
  const known = recorded.source(path);
  const stored = known === undefined ? undefined : recorded.bytes?.(known.digest);
  if (known !== undefined && stored !== undefined) {
    if (sha256Hex(stored) === known.digest)
      return { path, digest: known.digest, bytes: stored, isFromDisk: false };
    throw new SourceChangedError([
      { path, change: "changed", message: `the recorded bytes of ${path} are damaged` },
    ]);
  }
  const bytes = readDisk(path, known !== undefined);
  const digest = sha256Hex(bytes);
  const difference = known === undefined ? undefined : differenceOf(path, known.digest, digest);
  if (difference !== undefined) throw new SourceChangedError([difference]);
  return { path, digest, bytes, isFromDisk: true };
}

function readDisk(path: string, isRecorded: boolean): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    if (!isRecorded || !isMissing(error)) throw error;
    throw new SourceChangedError([{ path, change: "missing", message: `${path} is missing` }]);
  }
}

export type ModuleFormat = "module" | "commonjs" | "json";

/**
 * Decides how Node evaluates a file: by its extension, by the nearest
 * `package.json`, and where neither says anything by the syntax that it uses, so
 * that a workflow file works in a CommonJS project as in an ES module one.
 */
export function formatOf(path: string, code: string): ModuleFormat {
  switch (extname(path)) {
    case ".mts":
    case ".mjs":
      return "module";
    case ".cts":
    case ".cjs":
      return "commonjs";
    case ".json":
      return "json";
    case ".js":
    case ".jsx":
      return packageType(path) ?? bySyntax(code);
    default:
      // TypeScript writes modules with import and export whatever the package says.
      return bySyntax(code) === "module" ? "module" : (packageType(path) ?? "commonjs");
  }
}

function bySyntax(code: string): "module" | "commonjs" {
  try {
    const [, , , hasModuleSyntax] = parse(code);
    return hasModuleSyntax ? "module" : "commonjs";
  } catch {
    // Node reports the syntax error itself, with its line.
    return "module";
  }
}

/** The `type` of the nearest `package.json`; the folder of an installed package ends the search. */
function packageType(path: string): "module" | "commonjs" | undefined {
  let folder = dirname(path);
  for (;;) {
    const manifest = readManifest(folder);
    if (manifest !== undefined) {
      const { type } = manifest;
      return type === "module" || type === "commonjs" ? type : undefined;
    }
    const parent = dirname(folder);
    if (parent === folder || folder === join(parent, "node_modules")) return undefined;
    folder = parent;
  }
}
