/** What the user has told Pi to keep about a project: read as Pi reads it, and never written. */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJsonObject } from "./json-file.ts";

/** What is stored for the folder or the nearest one above; absent when nothing is. */
export function storedTrust(projectDir: string, agentDir: string): boolean | undefined {
  const stored = readJsonObject(join(agentDir, "trust.json"));
  for (let folder = realOr(projectDir); ; folder = dirname(folder)) {
    const decision = stored[folder];
    if (typeof decision === "boolean") return decision;
    if (dirname(folder) === folder) return undefined;
  }
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
