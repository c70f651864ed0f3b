/** Whether the files that a run has recorded are still the ones on disk. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "../platform/ids.ts";
import { HostError } from "./errors.ts";
import type { RunRecord, SourceRecord } from "./records.ts";
import type { Reader } from "./store/tx.ts";

/**
 * Refuses to let a run go on that would only block for its files. The worker
 * compares them again before it evaluates any: this spares a person the detour.
 */
export async function requireRecordedFiles(reader: Reader, run: RunRecord): Promise<void> {
  const isHeld = run.status === "paused" || run.status === "blocked";
  if (!isHeld || run.useRecorded) return;
  const { runId } = run;
  const sources = reader.sources.ofRun(runId);
  const found = await Promise.all(sources.map((source) => differenceOf(source)));
  const differences = found.filter((difference) => difference !== undefined);
  if (differences.length === 0) return;
  const words = differences.map(({ message }) => message).join("; ");
  const names = differences.map(({ path }) => path);
  const message = `${words}; run ${runId} recorded other ones, so say what it shall run`;
  throw new HostError("SOURCE_CHANGED", message, { runId, names });
}

interface Difference {
  readonly path: string;
  readonly message: string;
}

async function differenceOf(source: SourceRecord): Promise<Difference | undefined> {
  const { path, kind } = source;
  try {
    if (kind === "package") return await packageDifference(source);
    const isSame = sha256Hex(await readFile(path)) === source.digest;
    return isSame ? undefined : { path, message: `${path} has changed` };
  } catch {
    return { path, message: `${path} is missing or cannot be read` };
  }
}

async function packageDifference(source: SourceRecord): Promise<Difference | undefined> {
  const { path, packageName = path, packageVersion = "" } = source;
  const manifest: unknown = JSON.parse(await readFile(join(path, "package.json"), "utf8"));
  const version =
    typeof manifest === "object" && manifest !== null && "version" in manifest
      ? String(manifest.version)
      : "";
  if (version === packageVersion) return undefined;
  return { path, message: `package ${packageName} is version ${version}, not ${packageVersion}` };
}
