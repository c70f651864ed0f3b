/** HostService: one method per RPC. Nothing here tells a payload, a project's path or a token. */
import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  BackupResponseSchema,
  DiagnoseResponseSchema,
  FindingSchema,
  PruneRequestSchema,
  PruneResponseSchema,
  RepairRequestSchema,
  RepairResponseSchema,
  ShutdownResponseSchema,
} from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import type {
  BackupRequest,
  BackupResponse,
  DiagnoseRequest,
  DiagnoseResponse,
  Finding,
  HostService,
  PruneRequest,
  PruneResponse,
  RepairRequest,
  RepairResponse,
} from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import { diagnoseCalmly, repair } from "../diagnosis.ts";
import type { Finding as FindingRecord } from "../diagnosis.ts";
import { FINDINGS_MAX } from "../limits.ts";
import { pruneRuns } from "../operations/retention.ts";
import { checkPath, invalid } from "./checks.ts";
import { identify } from "./fingerprint.ts";
import { hostStatus } from "./host-status.ts";
import { findRunIdOrAny } from "./lookups.ts";
import type { HandlerParts } from "./parts.ts";

export function hostService(parts: HandlerParts): ServiceImpl<typeof HostService> {
  const { control } = parts;
  return {
    getStatus: () => hostStatus(parts),
    diagnose: (request) => diagnoseState(parts, request),
    repair: (request) => repairState(parts, request),
    backup: (request) => backUp(parts, request),
    prune: (request) => prune(parts, request),
    shutdown({ now }) {
      control.shutDown(now);
      return create(ShutdownResponseSchema, { pid: process.pid });
    },
  };
}

async function diagnoseState(
  { host }: HandlerParts,
  request: DiagnoseRequest,
): Promise<DiagnoseResponse> {
  const { reader } = host.store;
  const runId = findRunIdOrAny(reader, request.runId);
  const findings = await diagnoseCalmly(reader, runId === undefined ? {} : { runId });
  return create(DiagnoseResponseSchema, { findings: findingMessages(findings) });
}

async function repairState(
  { host }: HandlerParts,
  request: RepairRequest,
): Promise<RepairResponse> {
  const asked = identify(RepairRequestSchema, request);
  const { extra } = await repair(host, asked, { dryRun: request.dryRun });
  if (extra === undefined) throw new Error("the receipt of a repair has no report");
  return create(RepairResponseSchema, {
    repaired: findingMessages(extra.repaired),
    remaining: findingMessages(extra.remaining),
  });
}

async function backUp({ host }: HandlerParts, request: BackupRequest): Promise<BackupResponse> {
  const { bytes, digest } = await host.store.backup(checkPath("path", request.path));
  return create(BackupResponseSchema, { bytes: BigInt(bytes), digest });
}

async function prune(parts: HandlerParts, request: PruneRequest): Promise<PruneResponse> {
  const asked = identify(PruneRequestSchema, request);
  const olderThanMs = ageMs(request.olderThan, parts.control.retentionMs);
  const { host, supervisor } = parts;
  const { extra } = await pruneRuns(host, asked, { olderThanMs, dryRun: request.dryRun });
  if (extra === undefined) throw new Error("the receipt of a prune has no report");
  // Also at a repeat: the host may have died between the rows and the files.
  if (!request.dryRun)
    supervisor.removeLogs((id) => host.store.reader.workers.get(id) !== undefined);
  return create(PruneResponseSchema, {
    runs: BigInt(extra.runs),
    protectedRuns: BigInt(extra.protectedRuns),
    freedBytes: BigInt(extra.freedBytes),
  });
}

function ageMs(olderThan: Duration | undefined, retentionMs: number): number {
  if (olderThan === undefined) return retentionMs;
  const age = durationMs(olderThan);
  if (age >= 0 && Number.isFinite(age)) return age;
  throw invalid("older_than", "must not be negative");
}

function findingMessages(findings: readonly FindingRecord[]): Finding[] {
  return findings
    .slice(0, FINDINGS_MAX)
    .map(({ invariant, runId, message, repair: plan }) =>
      create(FindingSchema, { invariant, runId: runId ?? "", message, repair: plan ?? "" }),
    );
}
