/** Where the session of a headless run is kept, for whoever wants to read it. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { StatePaths } from "../platform/state-folder.ts";

/** The newest session of the run; absent before its Pi has written one. */
export function sessionFileOf(paths: StatePaths, runId: string): string | undefined {
  const folder = join(paths.piSessionsDir, runId);
  const newest = namesIn(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .toSorted()
    .at(-1);
  return newest === undefined ? undefined : join(folder, newest);
}

/** A word of a shell's line that means just this text. */
export function shellWord(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Most runs have no such folder. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
