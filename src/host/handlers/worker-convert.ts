/** What a worker's frames say, as records; what the host answers, as frames. */
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Failure } from "../../gen/piworkflows/common/v1/attempt_pb.ts";
import { Reason } from "../../gen/piworkflows/common/v1/error_pb.ts";
import type { Problem } from "../../gen/piworkflows/common/v1/error_pb.ts";
import { SourceKind, SourceSchema } from "../../gen/piworkflows/common/v1/source_pb.ts";
import type { Source } from "../../gen/piworkflows/common/v1/source_pb.ts";
import { WorkResponseSchema } from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type {
  LoadFailed,
  Resolved,
  WorkRequest,
  WorkResponse,
} from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { HostError } from "../errors.ts";
import type { WorkflowProblem } from "../errors.ts";
import { NAME_BYTES_MAX, VALUE_BYTES_MAX } from "../limits.ts";
import type {
  ClaimProof,
  FailureRecord,
  GraphRecord,
  SourceRecord,
  SourceWithContent,
} from "../records.ts";
import { graphRecord } from "./graph-convert.ts";

/** What a workflow file holds, as the worker that loaded it reports. */
export interface ResolvedRecord {
  readonly graph: GraphRecord;
  readonly sources: readonly SourceWithContent[];
  /** The input as the workflow accepted it; the JSON text "null" when only the file was checked. */
  readonly inputJson: string;
  /** Never empty. */
  readonly title: string;
  readonly warnings: readonly WorkflowProblem[];
  /** The first attempt of a run with this input, when its deadline is known already. */
  readonly first?: { readonly timeoutMs?: number };
}

export type LoadFailureReason = "WORKFLOW_INVALID" | "INPUT_INVALID" | "SOURCE_CHANGED";

/** Why a workflow cannot be loaded. */
export interface LoadFailureRecord {
  readonly reason: LoadFailureReason;
  readonly message: string;
  readonly problems: readonly WorkflowProblem[];
  readonly files: readonly string[];
  readonly warnings: readonly WorkflowProblem[];
}

/** A frame that no worker of ours sends. It ends that worker. */
export class MalformedFrame extends HostError {
  override readonly name = "MalformedFrame";

  constructor(problem: string) {
    super("REQUEST_INVALID", `malformed frame: ${problem}`);
  }
}

/** The right that a frame claims; the token is the stream's, never the frame's. */
export function proofOf(frame: WorkRequest, tokenHash: string): ClaimProof {
  const { claim } = frame;
  if (claim === undefined) throw new MalformedFrame("it carries no claim");
  const { runId, workerId, generation } = claim;
  return { runId, workerId, generation, tokenHash };
}

export function resolvedRecord(resolved: Resolved): ResolvedRecord {
  const graph = graphRecord(resolved.graph);
  return {
    graph,
    sources: resolved.sources.map(sourceWithContent),
    inputJson: resolved.inputJson.length === 0 ? "null" : jsonText("the input", resolved.inputJson),
    title: resolved.title === "" ? graph.name : resolved.title,
    warnings: resolved.warnings.map(problemRecord),
    ...(resolved.first === undefined ? {} : { first: optionalMs(resolved.first.timeoutMs) }),
  };
}

export function loadFailureRecord(failed: LoadFailed): LoadFailureRecord {
  const problems = failed.problems.map(problemRecord);
  return {
    reason: LOAD_FAILURES.get(failed.reason) ?? "WORKFLOW_INVALID",
    message: failed.message,
    problems: problems.length > 0 ? problems : [{ message: failed.message }],
    files: failed.files,
    warnings: failed.warnings.map(problemRecord),
  };
}

const LOAD_FAILURES: ReadonlyMap<Reason, LoadFailureReason> = new Map([
  [Reason.WORKFLOW_INVALID, "WORKFLOW_INVALID"],
  [Reason.INPUT_INVALID, "INPUT_INVALID"],
  [Reason.SOURCE_CHANGED, "SOURCE_CHANGED"],
]);

export function sourceWithContent(source: Source): SourceWithContent {
  const record = sourceRecord(source);
  // A file without bytes has its content all the same: none.
  const isBrought = source.content.length > 0 || record.size === 0;
  return record.kind === "file" && isBrought ? { ...record, content: source.content } : record;
}

export function sourceMessage(source: SourceRecord, content?: Uint8Array): Source {
  return create(SourceSchema, {
    path: source.path,
    kind: source.kind === "file" ? SourceKind.FILE : SourceKind.PACKAGE,
    digest: source.digest ?? "",
    size: BigInt(source.size),
    packageName: source.packageName ?? "",
    packageVersion: source.packageVersion ?? "",
    ...(content === undefined ? {} : { content }),
  });
}

export function failureRecord(failure: Failure | undefined): FailureRecord {
  if (failure === undefined) return { name: "Error", message: "the worker gave no reason" };
  const { stack } = failure;
  return {
    name: failure.name === "" ? "Error" : failure.name,
    message: failure.message,
    ...(stack === "" ? {} : { stack }),
  };
}

export function failureMessage(failure: FailureRecord): {
  name: string;
  message: string;
  stack: string;
} {
  return { name: failure.name, message: failure.message, stack: failure.stack ?? "" };
}

/** JSON text from its bytes: stored as it is, never parsed here. */
export function jsonText(what: string, bytes: Uint8Array): string {
  if (bytes.length > VALUE_BYTES_MAX) {
    throw new HostError(
      "LIMIT_EXCEEDED",
      `${what} has ${bytes.length} bytes as JSON; at most ${VALUE_BYTES_MAX} are allowed`,
      { limit: VALUE_BYTES_MAX, actual: bytes.length },
    );
  }
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new MalformedFrame(`${what} is not UTF-8`);
  }
}

export function jsonBytes(json: string): Uint8Array {
  return new TextEncoder().encode(json);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Names that become part of rows and keys. */
export function nameText(what: string, text: string): string {
  if (text === "") throw new MalformedFrame(`${what} is missing`);
  if (Buffer.byteLength(text) > NAME_BYTES_MAX) throw new MalformedFrame(`${what} is too long`);
  return text;
}

/** Milliseconds of an optional 64-bit field. */
export function optionalMs(value: bigint | undefined): { readonly timeoutMs?: number } {
  return value === undefined ? {} : { timeoutMs: safeNumber("a time", value) };
}

export function safeNumber(what: string, value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new MalformedFrame(`${what} is out of range`);
  return Number(value);
}

/** One frame to a worker; `inReplyTo` is the number of the frame it answers. */
export function response(
  body: NonNullable<MessageInitShape<typeof WorkResponseSchema>["body"]>,
  inReplyTo = 0n,
): WorkResponse {
  return create(WorkResponseSchema, { inReplyTo, body });
}

function sourceRecord(source: Source): SourceRecord {
  const base = { path: source.path, size: safeNumber("the size of a source", source.size) };
  switch (source.kind) {
    case SourceKind.FILE:
      return { ...base, kind: "file", digest: digestText(source.digest) };
    case SourceKind.PACKAGE:
      return {
        ...base,
        kind: "package",
        packageName: source.packageName,
        packageVersion: source.packageVersion,
      };
    default:
      throw new MalformedFrame("a source is neither a file nor a package");
  }
}

function digestText(text: string): string {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new MalformedFrame("a digest is not SHA-256");
  return text;
}

function problemRecord(problem: Problem): WorkflowProblem {
  return {
    message: problem.message,
    ...(problem.file === "" ? {} : { file: problem.file }),
    ...(problem.line === 0 ? {} : { line: problem.line }),
    ...(problem.column === 0 ? {} : { column: problem.column }),
    ...(problem.place === "" ? {} : { place: problem.place }),
  };
}
