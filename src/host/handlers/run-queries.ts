/** The reading half of RunService. */
import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { EventSchema } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { Event } from "../../gen/piworkflows/common/v1/run_pb.ts";
import {
  GetRunResponseSchema,
  GetRunValueResponseSchema,
  ListEventsResponseSchema,
  ListRunsResponseSchema,
} from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { ValueKind } from "../../gen/piworkflows/host/v1/run_choices_pb.ts";
import type {
  GetRunRequest,
  GetRunResponse,
  GetRunValueRequest,
  GetRunValueResponse,
  ListEventsRequest,
  ListEventsResponse,
  ListRunsRequest,
  ListRunsResponse,
} from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { EVENT_PAGE_DEFAULT, EVENT_PAGE_MAX, PAGE_DEFAULT, PAGE_MAX } from "../limits.ts";
import { runDetails } from "../operations/queries.ts";
import type { EventRecord, RunRecord, ValueRef } from "../records.ts";
import type { RunFilter } from "../store/tx.ts";
import { checkBytes, checkName, invalid, pageSize } from "./checks.ts";
import { runStatusNames, timestampOf } from "./convert.ts";
import { findRun, findRunId } from "./lookups.ts";
import { viewSources } from "./parts.ts";
import type { HandlerParts } from "./parts.ts";
import { runSummary } from "./run-summary.ts";
import type { ViewSources } from "./run-summary.ts";
import { runView } from "./run-view.ts";
import { readValue } from "./values.ts";

export function getRun(parts: HandlerParts, request: GetRunRequest): GetRunResponse {
  const sources = viewSources(parts);
  const details = runDetails(parts.host, findRunId(sources.reader, request.runId));
  return create(GetRunResponseSchema, { run: runView(sources, details) });
}

export function getRunValue(
  { reader }: ViewSources,
  request: GetRunValueRequest,
): GetRunValueResponse {
  const run = findRun(reader, request.runId);
  const ref = valueRef(request, run, () => {
    const node = checkName("node", request.node);
    return reader.attempts.newestOk(run.runId, node)?.output;
  });
  const value = ref === undefined ? {} : { value: readValue(reader.values, ref) };
  return create(GetRunValueResponseSchema, value);
}

export function listRuns(sources: ViewSources, request: ListRunsRequest): ListRunsResponse {
  const limit = pageSize(request.pageSize, PAGE_DEFAULT, PAGE_MAX);
  const statuses = runStatusNames(request.statuses);
  const workflow = checkBytes("workflow", request.workflow);
  const projectDir = checkBytes("project_dir", request.projectDir);
  const before = positionOf(request.pageToken);
  const filter: RunFilter = {
    limit: limit + 1,
    ...(statuses === undefined ? {} : { statuses }),
    ...(workflow === "" ? {} : { workflow }),
    ...(projectDir === "" ? {} : { projectDir }),
    ...(before === undefined ? {} : { before }),
  };
  const found = sources.reader.runs.page(filter);
  const runs = found.slice(0, limit);
  const last = found.length > limit ? runs.at(-1) : undefined;
  return create(ListRunsResponseSchema, {
    runs: runs.map((run) => runSummary(sources, run)),
    nextPageToken: last === undefined ? "" : String(last.position),
  });
}

export function listEvents(
  { reader }: ViewSources,
  request: ListEventsRequest,
): ListEventsResponse {
  const limit = pageSize(request.pageSize, EVENT_PAGE_DEFAULT, EVENT_PAGE_MAX);
  // The run is read first: were it terminal only afterwards, an event could be missed.
  const run = findRun(reader, request.runId);
  const found = reader.events.ofRun(run.runId, Number(request.afterRevision), limit + 1);
  return create(ListEventsResponseSchema, {
    events: found.slice(0, limit).map(eventMessage),
    more: found.length > limit,
    terminal: run.finishedAt !== undefined,
  });
}

function valueRef(
  request: GetRunValueRequest,
  run: RunRecord,
  output: () => ValueRef | undefined,
): ValueRef | undefined {
  switch (request.kind) {
    case ValueKind.INPUT:
      return run.input;
    case ValueKind.RESULT:
      return run.result;
    case ValueKind.OUTPUT:
      return output();
    default:
      throw invalid("kind", "must name the input, the result or an output");
  }
}

/** A page token is the position after which the next page begins. */
function positionOf(token: string): number | undefined {
  if (token === "") return undefined;
  if (/^\d{1,15}$/.test(token)) return Number(token);
  throw invalid("page_token", "was not given by this method");
}

function eventMessage(event: EventRecord): Event {
  return create(EventSchema, {
    runId: event.runId,
    revision: BigInt(event.revision),
    position: BigInt(event.position),
    kind: event.kind,
    at: timestampOf(event.at),
    node: event.node ?? "",
    // It was read from its JSON text, so it is nothing else.
    data: event.data as JsonObject,
  });
}
