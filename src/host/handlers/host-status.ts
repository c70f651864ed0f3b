/** How the host is, in counts. */
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { WorkerViewSchema } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary, WorkerView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import {
  GetStatusResponseSchema,
  StatusCountSchema,
} from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import type { GetStatusResponse } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import type { HeadlessPiView } from "../headless/seat.ts";
import type { SupervisedWorker, WorkerState } from "../supervisor/supervised-worker.ts";
import { RUN_STATUS, timestampOf } from "./convert.ts";
import { viewSources } from "./parts.ts";
import type { HandlerParts } from "./parts.ts";
import { runSummary } from "./run-summary.ts";

export function hostStatus(parts: HandlerParts): GetStatusResponse {
  const { host, control, supervisor, headless, streams } = parts;
  const { reader, storeId } = host.store;
  const { databaseBytes, walBytes } = host.store.sizes();
  return create(GetStatusResponseSchema, {
    version: control.version,
    pid: process.pid,
    epoch: BigInt(host.epoch),
    storeId,
    startedAt: timestampOf(control.startedAt),
    uptime: durationFromMs(Math.round(control.uptimeMs())),
    state: control.state(),
    runs: reader.runs
      .countByStatus()
      .map(({ status, count }) =>
        create(StatusCountSchema, { status: RUN_STATUS[status], count: BigInt(count) }),
      ),
    workers: [...supervisor.live().map(workerMessage), ...headless.live().map(piMessage)],
    expiredClaims: reader.claims.expired(host.epoch, host.leaseNow()).length,
    pendingInteractions: reader.interactions.countPending(),
    ambiguousEffects: reader.effects.countAmbiguous(),
    databaseBytes: BigInt(databaseBytes),
    walBytes: BigInt(walBytes),
    capacity: control.capacity,
    attachedStreams: streams.open,
    blockedLoops: blockedLoops(parts),
    residentBytes: BigInt(process.memoryUsage.rss()),
    nodeVersion: process.version,
  });
}

/** Without the project's path: the status is what people paste into reports. */
function blockedLoops(parts: HandlerParts): RunSummary[] {
  const sources = viewSources(parts);
  return parts.live
    .blockedRuns()
    .map((runId) => sources.reader.runs.get(runId))
    .filter((run) => run !== undefined)
    .map((run) => runSummary(sources, { ...run, projectDir: "" }));
}

const STATES: Readonly<Record<WorkerState, string>> = {
  starting: "starting",
  spare: "spare",
  preloaded: "preloaded",
  busy: "running",
  ended: "ended",
};

/** The Pi of a headless run stands among the processes of the host. */
function piMessage({ id, pid, runId, attached, startedAt }: HeadlessPiView): WorkerView {
  return create(WorkerViewSchema, {
    workerId: id,
    pid,
    state: attached ? "pi" : "pi starting",
    runId,
    startedAt: timestampOf(startedAt),
  });
}

function workerMessage(worker: SupervisedWorker): WorkerView {
  return create(WorkerViewSchema, {
    workerId: worker.id,
    pid: worker.pid,
    state: STATES[worker.state],
    runId: worker.boundTo?.runId ?? "",
    generation: worker.boundTo?.generation ?? 0,
    startedAt: timestampOf(worker.startedAt),
  });
}
