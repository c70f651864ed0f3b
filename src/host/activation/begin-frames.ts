/** The frames that put a worker into a run's place: bootstrap, stored values, recorded sources. */
import { AttemptStatus } from "../../gen/piworkflows/common/v1/attempt_pb.ts";
import { StateKind } from "../../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import type { WorkResponse } from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { failureMessage, jsonBytes, response, sourceMessage } from "../handlers/worker-convert.ts";
import type { AttemptStatus as AttemptStatusName } from "../lifecycle/attempt.ts";
import { VALUE_BYTES_MAX } from "../limits.ts";
import type { BeginRecord } from "../operations/attach.ts";
import type { AttemptRecord, RunRecord, SourceRecord } from "../records.ts";
import type { SubmissionRecord } from "../records-sessions.ts";
import type { Reader } from "../store/tx.ts";
import type { SupervisedWorker } from "../supervisor/supervised-worker.ts";
import { beginMessage } from "./beginning.ts";

export interface BeginOptions {
  readonly cacheDir: string;
  /** The worker itself resolved the file for this very run a moment ago. */
  readonly justResolved: boolean;
  /** Present when the run was attached as it was launched. */
  readonly begin?: BeginRecord | undefined;
}

/**
 * All frames up to `begin`, one stored value each, so that no frame grows with
 * the run. Values are read when the consumer asks for them, not before.
 */
export function* beginFrames(
  reader: Reader,
  run: RunRecord,
  options: BeginOptions,
): Generator<WorkResponse> {
  const sources = reader.sources.ofRun(run.runId);
  const recorded = run.useRecorded ? sources.filter((source) => source.kind === "file") : [];
  const closed = reader.attempts.newestClosedPerNode(run.runId);
  const submission =
    run.activation === "validate" ? reader.submissions.validating(run.runId) : undefined;
  const value = {
    runId: run.runId,
    generation: run.generation,
    workflowPath: run.workflowPath,
    projectDir: run.projectDir,
    cacheDir: options.cacheDir,
    workflow: run.workflow,
    sources: sources.map((source) => sourceMessage(source)),
    useRecorded: run.useRecorded,
    graphDigest: run.graphDigest,
    inputDigest: run.inputDigest,
    boundary: BigInt(run.boundary),
    stateFrames: 1 + closed.length + (submission === undefined ? 0 : 1),
    sourceFrames: recorded.length,
    node: run.node,
    visit: run.visit,
    steps: run.steps,
    justResolved: options.justResolved,
    valueBytesMax: BigInt(VALUE_BYTES_MAX),
    ...(options.begin === undefined ? {} : { begin: beginMessage(options.begin) }),
  };
  yield response({ case: "bootstrap", value });
  yield inputFrame(reader, run);
  for (const attempt of closed) yield resultFrame(reader, attempt);
  if (submission !== undefined) yield submissionFrame(reader, submission);
  for (const source of recorded) yield sourceFrame(reader, source);
}

/** So much at a time as the stream takes: a run's values may be many and large. */
export async function sendAll(
  frames: Iterable<WorkResponse>,
  worker: Pick<SupervisedWorker, "send" | "drained">,
  isGone: () => boolean,
): Promise<void> {
  let underway = 0;
  for (const frame of frames) {
    worker.send(frame);
    underway += valueBytes(frame);
    if (underway < BURST_BYTES) continue;
    await worker.drained();
    if (isGone()) return;
    underway = 0;
  }
}

/** Values of a run that may be on their way to its worker at the same time. */
const BURST_BYTES = 256 * 1_024;

function valueBytes({ body }: WorkResponse): number {
  if (body.case === "state") return body.value.json.length;
  return body.case === "source" ? body.value.content.length : 0;
}

function inputFrame(reader: Reader, run: RunRecord): WorkResponse {
  const json = jsonBytes(reader.values.read(run.input));
  return response({ case: "state", value: { kind: StateKind.INPUT, json } });
}

function resultFrame(reader: Reader, attempt: AttemptRecord): WorkResponse {
  const { error } = attempt;
  const value = {
    kind: StateKind.RESULT,
    node: attempt.node,
    visit: attempt.visit,
    attempt: attempt.attempt,
    status: STATUSES[attempt.status],
    json: outputBytes(reader, attempt),
    startedAtMs: BigInt(attempt.startedAt),
    finishedAtMs: BigInt(attempt.finishedAt ?? attempt.startedAt),
    ...(error === undefined ? {} : { error: failureMessage(error) }),
  };
  return response({ case: "state", value });
}

function submissionFrame(reader: Reader, { value }: SubmissionRecord): WorkResponse {
  const json = jsonBytes(reader.values.read(value));
  return response({ case: "state", value: { kind: StateKind.SUBMISSION, json } });
}

function outputBytes(reader: Reader, attempt: AttemptRecord): Uint8Array {
  const { output } = attempt;
  return output === undefined ? new Uint8Array() : jsonBytes(reader.values.read(output));
}

function sourceFrame(reader: Reader, source: SourceRecord): WorkResponse {
  const content = source.digest === undefined ? undefined : reader.values.bytes(source.digest);
  if (content === undefined)
    throw new Error(`the store lacks the recorded bytes of ${source.path}`);
  return response({ case: "source", value: sourceMessage(source, content) });
}

const STATUSES: Readonly<Record<AttemptStatusName, AttemptStatus>> = {
  running: AttemptStatus.RUNNING,
  waiting: AttemptStatus.WAITING,
  ok: AttemptStatus.OK,
  failed: AttemptStatus.FAILED,
  timed_out: AttemptStatus.TIMED_OUT,
  interrupted: AttemptStatus.INTERRUPTED,
  cancelled: AttemptStatus.CANCELLED,
};
