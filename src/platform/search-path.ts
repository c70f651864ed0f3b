/** Programs as a shell finds them. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The first program of this name in the folders of `path`, which is written like PATH. */
export function programOnPath(name: string, path: string): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  return allows(path, constants.X_OK);
}

export function isReadable(path: string): boolean {
  return allows(path, constants.R_OK);
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
