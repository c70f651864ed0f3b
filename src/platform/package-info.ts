/** What the installed package says about itself. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const PACKAGE_NAME = "pi-workflows";

let root: string | undefined;
let version: string | undefined;

/** Folder of the package this program runs from, in the bundle as from source. */
export function packageRoot(): string {
  // Where Pi transpiles a module itself, `import.meta` has no `dirname`.
  root ??= findRoot(dirname(fileURLToPath(import.meta.url)));
  return root;
}

/** Version of the package this program runs from. */
export function packageVersion(): string {
  version ??= readManifest(packageRoot())?.version ?? "0.0.0";
  return version;
}

function findRoot(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (readManifest(folder)?.name === PACKAGE_NAME) return folder;
    if (dirname(folder) === folder) return start;
  }
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
}

function readManifest(folder: string): Manifest | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  try {
    // Ours or a stranger's: only the two fields are looked at, and both may be absent.
    return JSON.parse(readFileSync(file, "utf8")) as Manifest;
  } catch {
    // A broken manifest on the way up is somebody else's.
    return undefined;
  }
}
