import type { SupervisedWorker, WantedWorkflow } from "./supervised-worker.ts";

/** Whether a spare loads or has loaded just this. */
export function isFor(
  worker: Pick<SupervisedWorker, "preloadedFor">,
  want: WantedWorkflow,
): boolean {
  return worker.preloadedFor !== undefined && keyOf(worker.preloadedFor) === keyOf(want);
}

/** The same text for what is the same to load. */
export function keyOf({ workflowPath, projectDir }: WantedWorkflow): string {
  return `${projectDir}\0${workflowPath}`;
}
