/** Pausing, resuming and cancelling runs. */
import { create } from "@bufbuild/protobuf";
import type { Receipt } from "../../gen/piworkflows/common/v1/command_pb.ts";
import type { RunSummary } from "../../gen/piworkflows/common/v1/run_pb.ts";
import {
  CancelRunRequestSchema,
  CancelRunResponseSchema,
  PauseRunRequestSchema,
  PauseRunResponseSchema,
  ResumeRunRequestSchema,
  ResumeRunResponseSchema,
} from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { SourcePolicy } from "../../gen/piworkflows/host/v1/run_choices_pb.ts";
import type {
  CancelRunRequest,
  CancelRunResponse,
  PauseRunRequest,
  PauseRunResponse,
  ResumeRunRequest,
  ResumeRunResponse,
} from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { NOTE_BYTES_MAX } from "../limits.ts";
import type { AskedCommand } from "../operations/canonical.ts";
import type { AcceptedSource, ResumeRequest } from "../operations/resume.ts";
import { cancelRun as cancel, pauseRun as pause, resumeRun as resume } from "../operations/runs.ts";
import type { RunRecord } from "../records.ts";
import type { CommandResult } from "../store/doors.ts";
import { checkBytes, invalid } from "./checks.ts";
import { identify } from "./fingerprint.ts";
import { findRun, findRunId } from "./lookups.ts";
import { viewSources } from "./parts.ts";
import type { HandlerParts } from "./parts.ts";
import { answerOnce, receiptMessage } from "./receipts.ts";
import { runSummary } from "./run-summary.ts";
import { requireRecordedFiles } from "../source-check.ts";

export async function pauseRun(
  parts: HandlerParts,
  request: PauseRunRequest,
): Promise<PauseRunResponse> {
  const asked = identify(PauseRunRequestSchema, request);
  const answer = await change(parts, asked, () => {
    const runId = findRunId(parts.host.store.reader, request.runId);
    return pause(parts.host, asked, { runId, now: request.now });
  });
  return create(PauseRunResponseSchema, answer);
}

export async function resumeRun(
  parts: HandlerParts,
  request: ResumeRunRequest,
): Promise<ResumeRunResponse> {
  const asked = identify(ResumeRunRequestSchema, request);
  const sourcePolicy = policyOf(request.sourcePolicy);
  const answer = await change(parts, asked, async () => {
    const { reader } = parts.host.store;
    const run = findRun(reader, request.runId);
    if (sourcePolicy === "unchanged") await requireRecordedFiles(reader, run);
    const accepted = sourcePolicy === "accept" ? await presentSource(parts, run) : undefined;
    return resume(parts.host, asked, {
      runId: run.runId,
      sourcePolicy,
      ...(accepted === undefined ? {} : { accepted }),
    });
  });
  return create(ResumeRunResponseSchema, answer);
}

export async function cancelRun(
  parts: HandlerParts,
  request: CancelRunRequest,
): Promise<CancelRunResponse> {
  const asked = identify(CancelRunRequestSchema, request);
  const note = checkBytes("note", request.note, NOTE_BYTES_MAX);
  const answer = await change(parts, asked, () => {
    const runId = findRunId(parts.host.store.reader, request.runId);
    return cancel(parts.host, asked, { runId, note });
  });
  return create(CancelRunResponseSchema, answer);
}

/** Performs the command once and answers with its receipt and the run as it then is. */
async function change(
  parts: HandlerParts,
  asked: AskedCommand,
  perform: () => Promise<CommandResult>,
): Promise<{ readonly receipt: Receipt; readonly run?: RunSummary }> {
  const sources = viewSources(parts);
  const result = await answerOnce(sources.reader, asked, perform);
  const receipt = receiptMessage(result);
  // A repeat is answered also when the run was pruned since.
  const run = result.runId === undefined ? undefined : sources.reader.runs.get(result.runId);
  return run === undefined ? { receipt } : { receipt, run: runSummary(sources, run) };
}

function policyOf(policy: SourcePolicy): ResumeRequest["sourcePolicy"] {
  switch (policy) {
    case SourcePolicy.UNSPECIFIED:
      return "unchanged";
    case SourcePolicy.RECORDED:
      return "recorded";
    case SourcePolicy.ACCEPT:
      return "accept";
    default:
      throw invalid("source_policy", `has no meaning ${policy}`);
  }
}

/** The workflow as its file is now, loaded with the run's own input. */
async function presentSource(
  { host, resolver }: HandlerParts,
  { workflowPath, projectDir, input }: RunRecord,
): Promise<AcceptedSource> {
  const inputJson = host.store.reader.values.read(input);
  const loaded = await resolver.load({ workflowPath, projectDir, inputJson });
  loaded.discard();
  const { graph, sources, title } = loaded;
  return { graph, sources, title };
}
