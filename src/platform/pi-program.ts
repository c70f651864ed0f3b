/** Where the program of Pi is, and whether it is one that will do. */
import { readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { packageRoot } from "./package-info.ts";
import { PI_RANGE, piFitness } from "./pi-version.ts";
import { isExecutable, isReadable, programOnPath } from "./search-path.ts";

export interface PiSearch {
  /** The setting: a path, or a name that is looked for on the path; empty looks by itself. */
  readonly piCommand: string;
  /** Folders of programs, as in the variable PATH, which is the default. */
  readonly path?: string;
  /** Where a copy of Pi may lie beside this package. */
  readonly root?: string;
}

export type PiProgram =
  | {
      /** Program and first arguments. */
      readonly command: readonly [string, ...string[]];
      readonly path: string;
      /** Absent for a program that does not tell without being run. */
      readonly version: string | undefined;
      readonly problem?: never;
    }
  | {
      readonly problem: string;
      /** `missing`: there is none; `unfit`: there is one, of another version. */
      readonly kind: "missing" | "unfit";
    };

const PACKAGE = "@earendil-works/pi-coding-agent";
const PI = join("node_modules", PACKAGE);

/**
 * What the setting names, else `pi` on the path, else the copy beside this package.
 * A script of Pi is run by this very Node.js: the one its first line would find may be too old.
 */
export function findPi({ piCommand, path = ownPath(), root = packageRoot() }: PiSearch): PiProgram {
  const found =
    piCommand === ""
      ? (programOnPath("pi", path) ?? besides(root))
      : named(expandHome(piCommand), path);
  if (found === undefined) return { problem: missing(piCommand, path), kind: "missing" };
  const real = realpathSync(found);
  const version = versionOf(real);
  const fitness = piFitness(version);
  if (fitness === "too_old" || fitness === "too_new") {
    const remedy =
      fitness === "too_old"
        ? `update it: npm install -g ${PACKAGE}`
        : "update pi-workflows, or name an older Pi in the setting piCommand";
    const problem = `Pi ${version} (${found}) is not one that works here (${PI_RANGE}); ${remedy}`;
    return { problem, kind: "unfit" };
  }
  const command = /\.[cm]?js$/.test(real)
    ? ([process.execPath, real] as const)
    : ([found] as const);
  return { command, path: found, version };
}

function missing(piCommand: string, path: string): string {
  const what =
    piCommand === ""
      ? `Pi was not found: there is no program pi on the PATH (${path})`
      : `the setting piCommand names ${piCommand}, which is no program; the PATH is ${path}`;
  const remedy =
    piCommand === ""
      ? `install it (npm install -g ${PACKAGE}) and run pi-workflows host restart in a shell that finds it, or name its program in the setting piCommand`
      : "correct it and run pi-workflows host restart";
  return `${what}; ${remedy}`;
}

function named(command: string, path: string): string | undefined {
  if (!isAbsolute(command)) return programOnPath(command, path);
  return isExecutable(command) || isScript(command) ? command : undefined;
}

/** The copy that Node.js would find from this package. */
function besides(root: string): string | undefined {
  for (let folder = root; ; folder = dirname(folder)) {
    const bin = readManifest(join(folder, PI))?.bin?.["pi"];
    if (bin !== undefined) return join(folder, PI, bin);
    if (dirname(folder) === folder) return undefined;
  }
}

/** From the manifest of the package that the program belongs to. */
function versionOf(program: string): string | undefined {
  for (let folder = dirname(program); dirname(folder) !== folder; folder = dirname(folder)) {
    const manifest = readManifest(folder);
    if (manifest?.name === PACKAGE) return manifest.version;
  }
  return undefined;
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly bin?: Readonly<Record<string, string>>;
}

function readManifest(folder: string): Manifest | undefined {
  try {
    // A stranger's, of which three fields are looked at, all of which may be absent.
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  } catch {
    return undefined;
  }
}

function ownPath(): string {
  return process.env["PATH"] ?? "";
}

function isScript(path: string): boolean {
  return /\.[cm]?js$/.test(path) && isReadable(path);
}

/** A settings file is read by no shell. */
function expandHome(path: string): string {
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
}
