import type { RunRecord, SourceRecord } from "../records.ts";
import type { SupervisedWorker } from "../supervisor/supervised-worker.ts";

/** The kernel's time of a change may be so much older than the change. */
const KERNEL_TICK_MS = 20;

/**
 * Whether a spare that loaded the run's workflow beforehand holds the files that
 * the run recorded: none of them changed since both were there. Told from times
 * alone, so a file that was only touched costs the run its spare and nothing else.
 */
export function isSpareCurrent(
  spare: SupervisedWorker,
  run: RunRecord,
  files: {
    readonly recorded: readonly SourceRecord[];
    readonly changedAt: (path: string) => number;
  },
): boolean {
  if (spare.preloadedAt === undefined) return true;
  const since = Math.min(spare.preloadedAt, run.createdAt) - KERNEL_TICK_MS;
  return files.recorded.every((source) => files.changedAt(fileOf(source)) < since);
}

/** A package is known by its manifest alone. */
function fileOf({ kind, path }: SourceRecord): string {
  return kind === "package" ? `${path}/package.json` : path;
}
