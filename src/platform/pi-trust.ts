/** What the user has told Pi to keep about a project: read as Pi reads it, and never written. */
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** What is stored for the folder or the nearest one above; absent when nothing is. */
export function storedTrust(projectDir: string, agentDir: string): boolean | undefined {
  const stored = readStored(join(agentDir, "trust.json"));
  for (let folder = realOr(projectDir); ; folder = dirname(folder)) {
    const decision = stored[folder];
    if (typeof decision === "boolean") return decision;
    if (dirname(folder) === folder) return undefined;
  }
}

/** A file that is missing or broken says nothing. */
function readStored(file: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(readFileSync(file, "utf8")) as unknown;
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
