/** Admitting runs: from a file, or from an old run's input. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { ProblemSchema } from "../../gen/piworkflows/common/v1/error_pb.ts";
import type { Problem } from "../../gen/piworkflows/common/v1/error_pb.ts";
import {
  RestartRunRequestSchema,
  RestartRunResponseSchema,
  StartRunRequestSchema,
  StartRunResponseSchema,
  ValidateWorkflowResponseSchema,
} from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type {
  RestartRunRequest,
  RestartRunResponse,
  StartRunRequest,
  StartRunResponse,
  ValidateWorkflowRequest,
  ValidateWorkflowResponse,
} from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { WorkflowProblem } from "../errors.ts";
import { PATH_BYTES_MAX } from "../limits.ts";
import type { AskedCommand } from "../operations/canonical.ts";
import { admitRun } from "../operations/runs.ts";
import type { Admission } from "../operations/runs.ts";
import type { ModelRecord } from "../records-sessions.ts";
import type { CommandResult } from "../store/doors.ts";
import { newId } from "../../platform/ids.ts";
import {
  checkBytes,
  checkInstant,
  checkName,
  checkPath,
  checkPriority,
  invalid,
} from "./checks.ts";
import { identify } from "./fingerprint.ts";
import { graphMessage } from "./graph-convert.ts";
import type { InFlight } from "./in-flight.ts";
import { findRun } from "./lookups.ts";
import type { HandlerParts, LoadedWorkflow } from "./parts.ts";
import { receiptMessage, storedResult } from "./receipts.ts";
import { jsonOf } from "./values.ts";

/** What the admission of a run answers, the first time and to those who asked meanwhile. */
export interface Admitted {
  readonly result: CommandResult;
  readonly warnings: readonly WorkflowProblem[];
}

export async function startRun(
  parts: HandlerParts,
  inFlight: InFlight<Admitted>,
  request: StartRunRequest,
): Promise<StartRunResponse> {
  const wanted = {
    workflow: checkName("workflow", request.workflow, PATH_BYTES_MAX),
    projectDir: checkPath("project_dir", request.projectDir),
    inputJson: jsonOf("input", request.input),
    notBefore: checkInstant("not_before", request.notBefore),
    priority: checkPriority(request.priority),
    adoptRecent: !request.allowDuplicate,
    ...originOf(request),
    ...modelOf(request),
  };
  const asked = identify(StartRunRequestSchema, request);
  const { result, warnings } = await once(parts, inFlight, asked, () => {
    const { workflow, projectDir } = wanted;
    return admit(parts, asked, {
      ...wanted,
      workflowPath: parts.resolver.find(workflow, projectDir),
    });
  });
  return create(StartRunResponseSchema, {
    receipt: receiptMessage(result),
    warnings: warnings.map(problemMessage),
  });
}

/** The same file and input as an old run, and nothing else of it. */
export async function restartRun(
  parts: HandlerParts,
  inFlight: InFlight<Admitted>,
  request: RestartRunRequest,
): Promise<RestartRunResponse> {
  const asked = identify(RestartRunRequestSchema, request);
  const { result, warnings } = await once(parts, inFlight, asked, () => {
    const { reader } = parts.host.store;
    const run = findRun(reader, request.runId);
    const { workflowPath, projectDir, priority } = run;
    const inputJson = reader.values.read(run.input);
    const restartedFrom = run.runId;
    return admit(parts, asked, {
      workflowPath,
      projectDir,
      priority,
      inputJson,
      restartedFrom,
      ...(run.mode === "session" ? { originSession: run.originSession ?? "" } : {}),
      ...(run.model === undefined ? {} : { model: run.model }),
    });
  });
  return create(RestartRunResponseSchema, {
    receipt: receiptMessage(result),
    warnings: warnings.map(problemMessage),
  });
}

/** Problems of the file are the answer here, not a refusal. */
export async function validateWorkflow(
  { resolver }: HandlerParts,
  request: ValidateWorkflowRequest,
): Promise<ValidateWorkflowResponse> {
  const workflow = checkName("workflow", request.workflow, PATH_BYTES_MAX);
  const projectDir = checkPath("project_dir", request.projectDir);
  const workflowPath = resolver.find(workflow, projectDir);
  const found = await resolver.inspect({ workflowPath, projectDir });
  if (found.kind === "resolved") {
    const { graph, warnings } = found.resolved;
    return create(ValidateWorkflowResponseSchema, {
      workflowPath,
      graph: graphMessage(graph),
      warnings: warnings.map(problemMessage),
    });
  }
  const { problems, warnings } = found.failure;
  return create(ValidateWorkflowResponseSchema, {
    workflowPath,
    problems: problems.map(problemMessage),
    warnings: warnings.map(problemMessage),
  });
}

/** A key is answered from its receipt, or by the call that is at it now, or by doing it. */
async function once(
  { host }: HandlerParts,
  inFlight: InFlight<Admitted>,
  asked: AskedCommand,
  begin: () => Promise<Admitted>,
): Promise<Admitted> {
  const result = storedResult(host.store.reader, asked);
  if (result !== undefined) return { result, warnings: [] };
  return inFlight.join(asked, begin, (first) => ({
    ...first,
    result: { ...first.result, outcome: "adopted" },
  }));
}

interface Wanted {
  readonly workflowPath: string;
  readonly projectDir: string;
  readonly inputJson: string;
  readonly notBefore?: number | undefined;
  readonly priority: number;
  readonly restartedFrom?: string;
  readonly originSession?: string;
  readonly model?: ModelRecord;
  /** Take the run that the session has just started for this one. */
  readonly adoptRecent?: boolean;
}

function originOf({ originSession }: StartRunRequest): { readonly originSession?: string } {
  return originSession === "" ? {} : { originSession: checkBytes("origin_session", originSession) };
}

function modelOf({ model, originSession }: StartRunRequest): { readonly model?: ModelRecord } {
  if (model === undefined) return {};
  if (originSession !== "") throw invalid("model", "is of no use to a run that a session shows");
  return {
    model: {
      provider: checkBytes("model.provider", model.provider),
      model: checkBytes("model.model", model.model),
      args: model.args.map((arg) => checkBytes("model.args", arg, PATH_BYTES_MAX)),
    },
  };
}

async function admit(
  { host, resolver }: HandlerParts,
  asked: AskedCommand,
  { notBefore, ...wanted }: Wanted,
): Promise<Admitted> {
  const loaded = await resolver.load(wanted);
  const runId = newId("run");
  // Before the admission, so that the same COMMIT can hold the launch.
  loaded.offerTo(runId);
  try {
    const result = await admitRun(host, asked, {
      runId,
      ...wanted,
      ...admissionOf(loaded),
      ...(notBefore === undefined ? {} : { notBefore }),
    });
    // Another run answers: an earlier one of the same key, or one that is taken for this.
    if (result.runId !== runId) loaded.discard();
    // The worker's frames leave first: this turn of the loop sends them when it ends.
    await nextTurn();
    return { result, warnings: loaded.warnings };
  } catch (error) {
    loaded.discard();
    throw error;
  }
}

function admissionOf({
  graph,
  sources,
  title,
  inputJson,
}: LoadedWorkflow): Pick<Admission, "workflow" | "graph" | "sources" | "title" | "inputJson"> {
  return { workflow: graph.name, graph, sources, title, inputJson };
}

function problemMessage(problem: WorkflowProblem): Problem {
  return create(ProblemSchema, problem);
}
