/** The words of runs, attempts and effects, with their colours. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { AttemptStatus } from "../../gen/piworkflows/common/v1/attempt_pb.ts";
import type { Attempt } from "../../gen/piworkflows/common/v1/attempt_pb.ts";
import { EffectStatus } from "../../gen/piworkflows/common/v1/effect_pb.ts";
import { InteractionKind } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import { BlockReason, RunStatus } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary, RunView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { Format } from "../output.ts";
import { word } from "../../platform/text.ts";

const COLOURS: Readonly<Record<string, Format>> = {
  queued: "dim",
  starting: "cyan",
  running: "cyan",
  pausing: "yellow",
  waiting: "blue",
  paused: "yellow",
  blocked: "magenta",
  completed: "green",
  ok: "green",
  applied: "green",
  failed: "red",
  timed_out: "red",
  ambiguous: "magenta",
  cancelled: "yellow",
  interrupted: "yellow",
};

export function colourOf(name: string): Format {
  return COLOURS[name] ?? "reset";
}

/** The run's status as one word; a pause that waits for an effect is told as such. */
export function statusWord(run: RunSummary): string {
  return run.pauseRequested ? "pausing" : word(RunStatus, run.status);
}

export function attemptWord(status: AttemptStatus): string {
  return word(AttemptStatus, status);
}

/** An attempt that is open while its run is blocked waits for a person, not for time. */
export function attemptWordIn(run: RunSummary | undefined, attempt: Attempt): string {
  const isOpen = attempt.finishedAt === undefined;
  return isOpen && run?.status === RunStatus.BLOCKED ? "blocked" : attemptWord(attempt.status);
}

export function effectWord(status: EffectStatus): string {
  return word(EffectStatus, status);
}

export function isTerminal({ status }: RunSummary): boolean {
  return (
    status === RunStatus.COMPLETED ||
    status === RunStatus.FAILED ||
    status === RunStatus.TIMED_OUT ||
    status === RunStatus.CANCELLED
  );
}

/** True when the run stays as it is until somebody does something. */
export function needsSomebody(run: RunSummary): boolean {
  return (
    run.status === RunStatus.PAUSED ||
    run.status === RunStatus.BLOCKED ||
    (run.status === RunStatus.WAITING && asksPerson(run))
  );
}

/** True when the run waits for somebody and not for a model. */
export function asksPerson({ interactionId, interactionKind }: RunSummary): boolean {
  const asksModel =
    interactionKind === InteractionKind.AGENT || interactionKind === InteractionKind.REPLY;
  return interactionId !== "" && !asksModel;
}

/** True when the run stands at a question that a person can answer now. */
export function isQuestion({ summary }: RunView): boolean {
  return summary !== undefined && summary.status === RunStatus.WAITING && asksPerson(summary);
}

/** What to type so that a stopped run goes on; empty when it goes on by itself. */
export function remedies(run: RunSummary): readonly string[] {
  const { runId } = run;
  if (run.status === RunStatus.PAUSED) return [`pi-workflows resume ${runId}`];
  if (run.status !== RunStatus.BLOCKED) return [];
  switch (run.blockReason) {
    case BlockReason.SOURCE_CHANGED:
      return [
        `pi-workflows resume ${runId} --recorded-source   # run what was recorded`,
        `pi-workflows resume ${runId} --accept-source     # run what is on disk now`,
      ];
    case BlockReason.EFFECT_AMBIGUOUS:
      // Its effects are known to whoever sees the whole run, and told there with their commands.
      return [];
    default:
      return [`pi-workflows resume ${runId}`];
  }
}

export function msOf(timestamp: Timestamp | undefined): number | undefined {
  return timestamp === undefined ? undefined : timestampMs(timestamp);
}
