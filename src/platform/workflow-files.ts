/** Finding workflow files by their names. Nothing here reads or runs one. */
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { packageRoot } from "./package-info.ts";
import { agentDir } from "./state-folder.ts";

export type WorkflowOrigin = "project" | "user" | "built-in";

export interface WorkflowFile {
  readonly name: string;
  /** Absolute, with symbolic links resolved. */
  readonly path: string;
  readonly origin: WorkflowOrigin;
}

const FILE = /^(.+)\.workflow\.(?:ts|mts|js|mjs)$/;
const PATH_ENDING = /\.(?:ts|mts|js|mjs)$/;
const NEAR_NAMES_MAX = 3;

/** A name that a path means: it holds a separator or ends like a module. */
export function isWorkflowPath(nameOrPath: string): boolean {
  return nameOrPath.includes("/") || nameOrPath.includes("\\") || PATH_ENDING.test(nameOrPath);
}

/**
 * The file that a name or path means, else the names that come near it. A name
 * is looked up in the project, then among the user's own, then the built-ins.
 */
export function findWorkflow(
  nameOrPath: string,
  projectDir: string,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): { readonly path: string } | { readonly nearNames: readonly string[] } {
  const known = listWorkflows(projectDir, env);
  if (isWorkflowPath(nameOrPath)) {
    const path = realFile(resolve(projectDir, nameOrPath));
    return path === undefined ? { nearNames: nearNames(baseName(nameOrPath), known) } : { path };
  }
  const found = known.find((file) => file.name === nameOrPath);
  return found === undefined ? { nearNames: nearNames(nameOrPath, known) } : { path: found.path };
}

/**
 * True for a workflow that the project brought along: its file lies under the
 * project's `.pi` folder, by its own path or by the one it was asked for with.
 */
export function isOfProject(nameOrPath: string, projectDir: string): boolean {
  const found = findWorkflow(nameOrPath, projectDir);
  if (!("path" in found)) return false;
  if (!isWorkflowPath(nameOrPath)) {
    const { origin } = listWorkflows(projectDir).find(({ path }) => path === found.path) ?? {};
    return origin === "project";
  }
  const folder = join(projectDir, ".pi");
  const asked = resolve(projectDir, nameOrPath);
  return asked.startsWith(folder + sep) || found.path.startsWith(realFolder(folder) + sep);
}

/** True for what the project brought along, and for any other file inside its folder. */
export function isInProject(nameOrPath: string, projectDir: string): boolean {
  if (isOfProject(nameOrPath, projectDir)) return true;
  const found = findWorkflow(nameOrPath, projectDir);
  if (!("path" in found) || !isWorkflowPath(nameOrPath)) return false;
  const isAskedThere = resolve(projectDir, nameOrPath).startsWith(projectDir + sep);
  return isAskedThere || found.path.startsWith(realFolder(projectDir) + sep);
}

/** Every workflow that can be started by name from this project; a nearer one hides its namesakes. */
export function listWorkflows(
  projectDir: string,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): readonly WorkflowFile[] {
  const places: readonly (readonly [WorkflowOrigin, string])[] = [
    ["project", join(projectDir, ".pi", "workflows")],
    ["user", join(agentDir(env), "workflows")],
    ["built-in", join(packageRoot(), "workflows")],
  ];
  const byName = new Map<string, WorkflowFile>();
  for (const [origin, folder] of places) {
    for (const file of filesIn(folder, origin)) {
      if (!byName.has(file.name)) byName.set(file.name, file);
    }
  }
  return [...byName.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function filesIn(folder: string, origin: WorkflowOrigin): readonly WorkflowFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .flatMap((entry) => {
      const name = FILE.exec(entry)?.[1];
      const path = name === undefined ? undefined : realFile(join(folder, entry));
      return name === undefined || path === undefined ? [] : [{ name, path, origin }];
    });
}

function realFolder(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function realFile(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}

function baseName(path: string): string {
  const file = path.split(/[/\\]/).at(-1) ?? path;
  return FILE.exec(file)?.[1] ?? file.replace(PATH_ENDING, "");
}

function nearNames(wanted: string, known: readonly WorkflowFile[]): readonly string[] {
  const limit = Math.max(2, Math.ceil(wanted.length / 3));
  return known
    .map(({ name }) => ({ name, distance: distance(wanted.slice(0, 256), name) }))
    .filter((near) => near.distance <= limit || near.name.includes(wanted))
    .toSorted((left, right) => left.distance - right.distance)
    .slice(0, NEAR_NAMES_MAX)
    .map((near) => near.name);
}

/** Number of letters to add, drop or change to make one word of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const change = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? to.length;
}
