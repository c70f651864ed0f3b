import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FailureSchema } from "../gen/piworkflows/common/v1/attempt_pb.ts";
import type { ProblemSchema } from "../gen/piworkflows/common/v1/error_pb.ts";
import type { GraphSchema } from "../gen/piworkflows/common/v1/graph_pb.ts";
import { SourceKind } from "../gen/piworkflows/common/v1/source_pb.ts";
import type { SourceSchema } from "../gen/piworkflows/common/v1/source_pb.ts";
import { AttemptOutcome, EffectOutcomeKind } from "../gen/piworkflows/worker/v1/endings_pb.ts";
import type {
  AttemptResultSchema,
  EffectOutcomeSchema,
} from "../gen/piworkflows/worker/v1/endings_pb.ts";
import type { AdvanceSchema } from "../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { ErrorDescription } from "../workflow/describe-error.ts";
import type { Graph, GraphEdge } from "../workflow/graph.ts";
import type { LoadProblem, SourceRecord } from "./definition/load.ts";
import type { AttemptEnd, Follow } from "./engine/run-link.ts";
import type { EffectOutcome } from "./nodes/executor.ts";
import { withoutOwnFrames } from "./own-frames.ts";

const OUTCOMES = {
  ok: AttemptOutcome.OK,
  failed: AttemptOutcome.FAILED,
  timed_out: AttemptOutcome.TIMED_OUT,
  unknown: AttemptOutcome.UNKNOWN,
} as const;

export function failure(error: ErrorDescription): MessageInitShape<typeof FailureSchema> {
  return { name: error.name, message: error.message, stack: withoutOwnFrames(error.stack ?? "") };
}

export function attemptResult(end: AttemptEnd): MessageInitShape<typeof AttemptResultSchema> {
  const effect = end.effect === undefined ? {} : { effect: effectOutcome(end.effect) };
  const outcome = OUTCOMES[end.kind];
  if (end.kind === "ok") {
    const { outputJson, notification } = end;
    const told = notification === undefined ? {} : { notification };
    return { outcome, outputJson: Buffer.from(outputJson), ...effect, ...told };
  }
  return { outcome, error: failure(end.error), ...effect };
}

export function wireFollow(
  follow: Follow | undefined,
): NonNullable<MessageInitShape<typeof AdvanceSchema>["follow"]> {
  if (follow === undefined) return { case: undefined };
  if (follow.kind === "next") {
    const { node, retry, timeoutMs } = follow;
    const limit = timeoutMs === undefined ? {} : { timeoutMs: BigInt(timeoutMs) };
    return { case: "next", value: { node, retry, ...limit } };
  }
  const outcome = OUTCOMES[follow.outcome];
  if (follow.outcome === "ok")
    return { case: "end", value: { outcome, resultJson: Buffer.from(follow.resultJson) } };
  return { case: "end", value: { outcome, error: failure(follow.error) } };
}

function effectOutcome(effect: EffectOutcome): MessageInitShape<typeof EffectOutcomeSchema> {
  const { effectId } = effect;
  if (effect.kind === "applied") {
    const receiptJson = Buffer.from(effect.receiptJson);
    return { effectId, kind: EffectOutcomeKind.APPLIED, receiptJson };
  }
  const kind = effect.kind === "rejected" ? EffectOutcomeKind.REJECTED : EffectOutcomeKind.UNKNOWN;
  return { effectId, kind, detail: effect.detail };
}

export function wireGraph(graph: Graph): MessageInitShape<typeof GraphSchema> {
  const { name, startAt, maxSteps, result = "" } = graph;
  const nodes = graph.nodes.map(({ path, kind, statusDetail = "", effect, retry }) => ({
    path,
    kind,
    statusDetail,
    ...(effect === undefined ? {} : { effect }),
    ...(retry === undefined ? {} : { retry: wireRetry(retry) }),
  }));
  return { name, startAt, maxSteps, nodes, edges: graph.edges.map(wireEdge), result };
}

type Retry = NonNullable<Graph["nodes"][number]["retry"]>;

function wireRetry({ maxAttempts, backoffMs, factor, maxBackoffMs }: Retry): {
  maxAttempts: number;
  backoffMs: bigint;
  factor: number;
  maxBackoffMs: bigint;
} {
  return { maxAttempts, backoffMs: whole(backoffMs), factor, maxBackoffMs: whole(maxBackoffMs) };
}

function whole(ms: number): bigint {
  return BigInt(Math.ceil(ms));
}

function wireEdge(
  edge: GraphEdge,
): NonNullable<MessageInitShape<typeof GraphSchema>["edges"]>[number] {
  if ("to" in edge) return { from: edge.from, to: edge.to };
  const cases = edge.cases.map(({ value, to }) => ({
    value: { kind: { case: "stringValue" as const, value } },
    to,
  }));
  return { from: edge.from, on: edge.on, cases, defaultTo: edge.default ?? "" };
}

export function wireSource(source: SourceRecord): MessageInitShape<typeof SourceSchema> {
  const { path, size } = source;
  if (source.kind === "file")
    return {
      path,
      size: BigInt(size),
      kind: SourceKind.FILE,
      digest: source.digest,
      ...(source.bytes === undefined ? {} : { content: source.bytes }),
    };
  const { packageName = "", packageVersion = "" } = source;
  return { path, kind: SourceKind.PACKAGE, packageName, packageVersion };
}

export function wireProblem(problem: LoadProblem): MessageInitShape<typeof ProblemSchema> {
  const { message, file = "", line = 0, column = 0, place = "" } = problem;
  return { message, file, line, column, place };
}
