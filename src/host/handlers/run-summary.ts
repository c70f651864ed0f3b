/** A run as a line of a list. */
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { LoopBlockSchema, RunSummarySchema } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { LoopBlock, RunSummary } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { RunRecord } from "../records.ts";
import { dueAtOf } from "../operations/queries.ts";
import type { Reader } from "../store/tx.ts";
import { BLOCK_REASON, RUN_STATUS, timestampField, timestampOf } from "./convert.ts";
import type { LiveRuns, LoopBlockInfo } from "./live.ts";
import { cutText } from "./values.ts";

/** Where views read: the rows, and what only memory knows. */
export interface ViewSources {
  readonly reader: Reader;
  readonly live: LiveRuns;
}

export function runSummary(sources: ViewSources, run: RunRecord): RunSummary {
  const { reader, live } = sources;
  const isWaiting = run.status === "waiting";
  const interaction = isWaiting ? reader.interactions.open(run.runId) : undefined;
  const timer = isWaiting ? reader.timers.open(run.runId) : undefined;
  const loopBlock = live.loopBlock(run.runId);
  return create(RunSummarySchema, {
    runId: run.runId,
    workflow: run.workflow,
    title: run.title,
    status: RUN_STATUS[run.status],
    pauseRequested: run.pauseRequested,
    revision: BigInt(run.revision),
    node: run.node,
    statusDetail: nodeLabel(sources, run),
    steps: run.steps,
    createdAt: timestampOf(run.createdAt),
    updatedAt: timestampOf(run.updatedAt),
    ...timestampField("finishedAt", run.finishedAt),
    ...timestampField("dueAt", dueAtOf(run, interaction, timer)),
    ...(run.blockReason === undefined ? {} : { blockReason: BLOCK_REASON[run.blockReason] }),
    detail: cutText(run.detail ?? run.error?.message ?? ""),
    projectDir: run.projectDir,
    ambiguousEffects: reader.effects.ambiguousOfRun(run.runId),
    interactionId: interaction?.interactionId ?? "",
    ...(loopBlock === undefined ? {} : { loopBlock: loopBlockMessage(loopBlock) }),
  });
}

/** Labels of the newest graphs seen: lists of many runs of few workflows read few graphs. */
const LABEL_GRAPHS_MAX = 64;
const labelsOfGraphs = new Map<string, ReadonlyMap<string, string>>();

function nodeLabel({ reader }: ViewSources, run: RunRecord): string {
  let labels = labelsOfGraphs.get(run.graphDigest);
  if (labels === undefined) {
    const { nodes } = reader.runs.graph(run.runId);
    labels = new Map(nodes.map((node) => [node.path, node.statusDetail ?? ""]));
    const [oldest] = labelsOfGraphs.keys();
    if (labelsOfGraphs.size >= LABEL_GRAPHS_MAX && oldest !== undefined) {
      labelsOfGraphs.delete(oldest);
    }
    labelsOfGraphs.set(run.graphDigest, labels);
  }
  return labels.get(run.node) ?? "";
}

function loopBlockMessage({ node, since, cpuMs }: LoopBlockInfo): LoopBlock {
  return create(LoopBlockSchema, {
    node,
    since: timestampOf(since),
    cpuTime: durationFromMs(Math.round(cpuMs)),
  });
}
