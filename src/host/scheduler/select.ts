import type { RunRecord } from "../records.ts";

/** A place that is taken: a run that starts, executes, or whose processes are being ended. */
export interface TakenPlace {
  readonly runId: string;
  readonly projectDir: string;
}

export type QueuedRun = Pick<RunRecord, "runId" | "projectDir" | "priority">;

/**
 * Who runs next: of those with the highest priority the one whose project has
 * the fewest places, and among equals the first in the queue. One project's
 * flood therefore delays another project by one run at most.
 */
export function selectNext<Run extends QueuedRun>(
  /** In the order of the queue. */
  queued: readonly Run[],
  taken: readonly TakenPlace[],
): Run | undefined {
  const busy = new Set(taken.map(({ runId }) => runId));
  const load = new Map<string, number>();
  for (const { projectDir } of taken) load.set(projectDir, (load.get(projectDir) ?? 0) + 1);
  const loadOf = (run: Run): number => load.get(run.projectDir) ?? 0;

  let best: Run | undefined;
  for (const run of queued) {
    if (busy.has(run.runId)) continue;
    if (best === undefined || run.priority > best.priority) best = run;
    else if (run.priority === best.priority && loadOf(run) < loadOf(best)) best = run;
  }
  return best;
}
