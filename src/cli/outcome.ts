/** What runs and refusals mean to a script. */
import { Reason } from "../gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary } from "../gen/piworkflows/common/v1/run_pb.ts";
import { ExitCode } from "./exit-codes.ts";
import { asksPerson } from "./views/words.ts";

/** What a run says about itself to a script. A run that goes on by itself is no failure. */
export function exitCodeOfRun(run: RunSummary): ExitCode {
  switch (run.status) {
    case RunStatus.FAILED:
      return ExitCode.runFailed;
    case RunStatus.CANCELLED:
      return ExitCode.runCancelled;
    case RunStatus.TIMED_OUT:
      return ExitCode.runTimedOut;
    case RunStatus.BLOCKED:
      return ExitCode.runBlocked;
    case RunStatus.PAUSED:
      return ExitCode.runPaused;
    case RunStatus.WAITING:
      return asksPerson(run) ? ExitCode.runNeedsAnswer : ExitCode.success;
    default:
      return ExitCode.success;
  }
}

/** Reasons that are not plainly "refused". */
const BY_REASON: ReadonlyMap<Reason, ExitCode> = new Map<Reason, ExitCode>([
  [Reason.RUN_NOT_FOUND, ExitCode.notFound],
  [Reason.INTERACTION_NOT_FOUND, ExitCode.notFound],
  [Reason.EFFECT_NOT_FOUND, ExitCode.notFound],
  [Reason.WORKFLOW_NOT_FOUND, ExitCode.notFound],
  [Reason.WORKFLOW_INVALID, ExitCode.usage],
  [Reason.REQUEST_INVALID, ExitCode.usage],
  [Reason.HOST_STOPPING, ExitCode.unreachable],
  [Reason.VERSION_SKEW, ExitCode.unreachable],
]);

export function exitCodeOfReason(reason: Reason): ExitCode {
  return BY_REASON.get(reason) ?? ExitCode.refused;
}
