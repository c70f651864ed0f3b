/** A run with what a person wants to see of it. */
import { create } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { AttemptSchema, FailureSchema } from "../../gen/piworkflows/common/v1/attempt_pb.ts";
import type { Attempt, Failure } from "../../gen/piworkflows/common/v1/attempt_pb.ts";
import {
  ProgressSchema,
  RunViewSchema,
  WorkerViewSchema,
} from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { Progress, RunView, WorkerView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import { OUTPUT_TAIL_BYTES } from "../limits.ts";
import { lastBytes } from "../operations/last-bytes.ts";
import type { RunDetails } from "../operations/queries.ts";
import type {
  AttemptRecord,
  FailureRecord,
  ProgressRecord,
  ValueRef,
  WorkerRecord,
} from "../records.ts";
import type { Reader } from "../store/tx.ts";
import { ATTEMPT_STATUS, timestampField, timestampOf } from "./convert.ts";
import { effectMessage } from "./effect-views.ts";
import { interactionMessage } from "./interaction-views.ts";
import { runSummary } from "./run-summary.ts";
import type { ViewSources } from "./run-summary.ts";
import { cutText, readCutValue } from "./values.ts";

export function runView(sources: ViewSources, details: RunDetails): RunView {
  const { reader } = sources;
  const { run, interaction, worker } = details;
  return create(RunViewSchema, {
    summary: runSummary(sources, run),
    attempts: details.attempts.map((attempt) => attemptMessage(reader, attempt)),
    ...(interaction === undefined
      ? {}
      : { interaction: interactionMessage(reader, interaction, "cut") }),
    progress: details.progress.map(progressMessage),
    effects: details.effects.map((effect) => effectMessage(reader, effect)),
    ...(worker === undefined ? {} : { worker: workerMessage(worker) }),
    ...cutFields(reader, "result", run.result),
    ...(run.error === undefined ? {} : { error: failureMessage(run.error) }),
    workflowPath: run.workflowPath,
    ...cutFields(reader, "input", run.input),
    restartedFrom: run.restartedFrom ?? "",
    changedFiles: [...(run.changedFiles ?? [])],
    outputTail: outputTail(sources, run.runId),
  });
}

/** The end of what the run's workers wrote, the newest last. */
function outputTail({ reader, live }: ViewSources, runId: string): string {
  let tail = "";
  for (const { workerId } of reader.workers.ofRun(runId).toReversed()) {
    tail = live.outputTail(workerId) + tail;
    if (Buffer.byteLength(tail) >= OUTPUT_TAIL_BYTES) break;
  }
  return lastBytes(tail, OUTPUT_TAIL_BYTES);
}

type CutFields<Name extends string> = {
  readonly [Key in Name]?: Value;
} & { readonly [Key in `${Name}Truncated`]?: boolean };

/** A value and whether it was cut, as the pair of fields every view has for one. */
function cutFields<Name extends string>(
  reader: Reader,
  name: Name,
  ref: ValueRef | undefined,
): CutFields<Name> {
  // The computed keys are exactly the two of the type, which the checker cannot follow.
  if (ref === undefined) return {};
  const { value, truncated } = readCutValue(reader.values, ref);
  return { [name]: value, [`${name}Truncated`]: truncated } as CutFields<Name>;
}

function attemptMessage(reader: Reader, attempt: AttemptRecord): Attempt {
  const { startedAt, finishedAt, timeoutMs, error } = attempt;
  const open = finishedAt === undefined && timeoutMs !== undefined;
  return create(AttemptSchema, {
    attemptId: attempt.attemptId,
    node: attempt.node,
    visit: attempt.visit,
    attempt: attempt.attempt,
    status: ATTEMPT_STATUS[attempt.status],
    startedAt: timestampOf(startedAt),
    ...timestampField("finishedAt", finishedAt),
    ...cutFields(reader, "output", attempt.output),
    ...(error === undefined ? {} : { error: failureMessage(error) }),
    ...timestampField("deadlineAt", open ? startedAt + timeoutMs : undefined),
  });
}

function progressMessage(progress: ProgressRecord): Progress {
  return create(ProgressSchema, {
    node: progress.node,
    text: cutText(progress.text),
    at: timestampOf(progress.at),
  });
}

function failureMessage(failure: FailureRecord): Failure {
  return create(FailureSchema, {
    name: failure.name,
    message: cutText(failure.message),
    stack: cutText(failure.stack ?? ""),
  });
}

function workerMessage(worker: WorkerRecord): WorkerView {
  const ended = worker.endedAt !== undefined;
  return create(WorkerViewSchema, {
    workerId: worker.workerId,
    pid: ended ? 0 : worker.pid,
    state: ended ? "ended" : "running",
    runId: worker.runId,
    generation: worker.generation,
    startedAt: timestampOf(worker.startedAt),
    ...timestampField("endedAt", worker.endedAt),
    ...(worker.exitCode === undefined ? {} : { exitCode: worker.exitCode }),
    exitSignal: worker.exitSignal ?? "",
    exitReason: worker.exitReason ?? "",
  });
}
