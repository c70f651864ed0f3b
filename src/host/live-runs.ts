/** What views show of runs that execute now: asked of the scheduler and the supervisor. */
import type { LiveRuns } from "./handlers/live.ts";
import { OUTPUT_TAIL_BYTES } from "./limits.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Supervisor } from "./supervisor/supervisor.ts";

export function createLiveRuns(
  scheduler: Pick<Scheduler, "loopBlock" | "activations">,
  supervisor: Pick<Supervisor, "live" | "readLog">,
): LiveRuns {
  return {
    loopBlock: (runId) => scheduler.loopBlock(runId),
    blockedRuns: () =>
      scheduler
        .activations()
        .filter(({ loopBlock }) => loopBlock !== undefined)
        .map(({ runId }) => runId),
    outputTail(workerId) {
      const worker = supervisor.live().find(({ id }) => id === workerId);
      if (worker !== undefined) return worker.outputTail(OUTPUT_TAIL_BYTES);
      const { head, tail } = supervisor.readLog(workerId);
      return lastText(tail.length > 0 ? tail : head);
    },
  };
}

/** The last bytes as text, without the half of a character they may begin with. */
function lastText(bytes: Uint8Array): string {
  const last = Buffer.from(bytes.subarray(Math.max(0, bytes.length - OUTPUT_TAIL_BYTES)));
  const text = last.toString();
  return last.length < bytes.length ? text.replace(/^\uFFFD+/, "") : text;
}
