import { readFileSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { sha256Hex } from "../../platform/ids.ts";

/** One thing a workflow was loaded from: a project file by its bytes, a package by its version. */
export interface SourceRecord {
  /** Absolute real path of the file, or of the package's folder. */
  readonly path: string;
  readonly kind: "file" | "package";
  /** SHA-256 in lower-case hexadecimal; empty for a package. */
  readonly digest: string;
  /** Bytes of the file; 0 for a package. */
  readonly size: number;
  readonly packageName?: string;
  readonly packageVersion?: string;
  /** The bytes that were evaluated; absent for a package and in what comes from a store. */
  readonly bytes?: Uint8Array;
}

/** A source as a run recorded it earlier. */
export type RecordedSource = Omit<SourceRecord, "bytes" | "size">;

export interface SourceDifference {
  readonly path: string;
  readonly change: "changed" | "missing" | "version";
  /** In words, naming the file or the package. */
  readonly message: string;
}

/** Thrown in place of evaluating anything that differs from what the run recorded. */
export class SourceChangedError extends Error {
  override readonly name = "SourceChangedError";
  readonly differences: readonly SourceDifference[];

  constructor(differences: readonly SourceDifference[]) {
    super(differences.map(({ message }) => message).join("; "));
    this.differences = differences;
  }
}

/**
 * Compares all recorded sources with the disk and returns every difference. It
 * reads files only: nothing is evaluated. Small files are read faster one after
 * the other than through promises; the promise leaves room for a pool.
 */
export function verifySources(
  recorded: readonly RecordedSource[],
): Promise<readonly SourceDifference[]> {
  return Promise.resolve(
    recorded.flatMap((source) => {
      const difference = source.kind === "file" ? compareFile(source) : comparePackage(source);
      return difference === undefined ? [] : [difference];
    }),
  );
}

function compareFile({ path, digest }: RecordedSource): SourceDifference | undefined {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const why = isMissing(error) ? "is missing" : "cannot be read";
    return { path, change: "missing", message: `${path} ${why}` };
  }
  return differenceOf(path, digest, sha256Hex(bytes));
}

/** The difference between a recorded digest and the present one of the same file. */
export function differenceOf(
  path: string,
  recorded: string,
  present: string,
): SourceDifference | undefined {
  if (present === recorded) return undefined;
  return { path, change: "changed", message: `${path} has changed` };
}

function comparePackage(source: RecordedSource): SourceDifference | undefined {
  const { path, packageName = basename(path), packageVersion = "" } = source;
  const present = readManifest(path);
  if (present === undefined)
    return { path, change: "missing", message: `package ${packageName} is missing at ${path}` };
  const version = present.version ?? "";
  if (version === packageVersion) return undefined;
  const message = `package ${packageName} is version ${version || "unknown"}, recorded was ${packageVersion || "unknown"} (${path})`;
  return { path, change: "version", message };
}

/** The record of the package that holds a file, or `undefined` for a project file. */
export function packageSourceOf(file: string): SourceRecord | undefined {
  const root = packageRootOf(file);
  if (root === undefined) return undefined;
  const manifest = readManifest(root);
  return {
    path: root,
    kind: "package",
    digest: "",
    size: 0,
    packageName: manifest?.name ?? basename(root),
    packageVersion: manifest?.version ?? "",
  };
}

const NODE_MODULES = `${sep}node_modules${sep}`;

/** The folder below the innermost `node_modules`: one segment, or two for a scoped package. */
export function packageRootOf(file: string): string | undefined {
  const at = file.lastIndexOf(NODE_MODULES);
  if (at === -1) return undefined;
  const start = at + NODE_MODULES.length;
  const segments = file.slice(start).split(sep);
  const length = segments[0]?.startsWith("@") === true ? 2 : 1;
  return file.slice(0, start) + segments.slice(0, length).join(sep);
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly type?: string;
}

/** The fields of a `package.json` that matter here, or `undefined` when there is none to read. */
export function readManifest(folder: string): Manifest | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  } catch {
    // Absent or broken reads as absent; the version is then unknown, which differs from any known one.
    return undefined;
  }
  if (typeof parsed !== "object" || parsed === null) return undefined;
  const { name, version, type } = parsed as Record<string, unknown>;
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof version === "string" ? { version } : {}),
    ...(typeof type === "string" ? { type } : {}),
  };
}

export function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
