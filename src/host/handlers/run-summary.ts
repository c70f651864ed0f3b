/** A run as a line of a list. */
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  LoopBlockSchema,
  RunMode,
  RunSummarySchema,
} from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { LoopBlock, RunSummary } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { RunRecord } from "../records.ts";
import { dueAtOf } from "../operations/queries.ts";
import type { Reader } from "../store/tx.ts";
import {
  BLOCK_REASON,
  INTERACTION_KIND,
  RUN_STATUS,
  timestampField,
  timestampOf,
} from "./convert.ts";
import { deliveryOf } from "./delivery.ts";
import type { LiveRuns, LoopBlockInfo } from "./live.ts";
import { cutText } from "./values.ts";

/** Where views read: the rows, and what only memory knows. */
export interface ViewSources {
  readonly reader: Reader;
  readonly live: LiveRuns;
}

export function runSummary(sources: ViewSources, run: RunRecord): RunSummary {
  const { reader } = sources;
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
    ...(run.blockReason === undefined ? {} : { blockReason: BLOCK_REASON[run.blockReason] }),
    detail: cutText(run.detail ?? run.error?.message ?? ""),
    projectDir: run.projectDir,
    ambiguousEffects: reader.effects.ambiguousOfRun(run.runId),
    ...waitFields(reader, run),
    ...loopBlockField(sources, run),
    mode: RUN_MODE[run.mode],
    originSession: run.mode === "session" ? (run.originSession ?? "") : "",
  });
}

const RUN_MODE: Readonly<Record<RunRecord["mode"], RunMode>> = {
  headless: RunMode.HEADLESS,
  session: RunMode.SESSION,
};

type WaitFields = Partial<
  Pick<RunSummary, "interactionId" | "interactionKind" | "delivery" | "dueAt">
>;

/** What the run waits for, and until when. */
function waitFields(reader: Reader, run: RunRecord): WaitFields {
  const isWaiting = run.status === "waiting";
  // While its answer is validated, the request is still what the run is about.
  const isAsking = isWaiting || run.activation === "validate";
  const interaction = isAsking ? reader.interactions.open(run.runId) : undefined;
  const timer = isWaiting ? reader.timers.open(run.runId) : undefined;
  const due = timestampField("dueAt", dueAtOf(run, interaction, timer));
  if (interaction === undefined) return due;
  return {
    ...due,
    interactionId: interaction.interactionId,
    interactionKind: INTERACTION_KIND[interaction.kind],
    delivery: deliveryOf(reader, interaction).state,
  };
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

function loopBlockField(
  { live }: ViewSources,
  { runId }: RunRecord,
): { readonly loopBlock?: LoopBlock } {
  const loopBlock = live.loopBlock(runId);
  return loopBlock === undefined ? {} : { loopBlock: loopBlockMessage(loopBlock) };
}

function loopBlockMessage({ node, since, cpuMs }: LoopBlockInfo): LoopBlock {
  return create(LoopBlockSchema, {
    node,
    since: timestampOf(since),
    cpuTime: durationFromMs(Math.round(cpuMs)),
  });
}
