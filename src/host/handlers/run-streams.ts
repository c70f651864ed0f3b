/** The watching half of RunService. */
import { create, toBinary } from "@bufbuild/protobuf";
import { RunViewSchema } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary } from "../../gen/piworkflows/common/v1/run_pb.ts";
import {
  WatchRunResponseSchema,
  WatchRunsResponseSchema,
} from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { CursorSchema } from "../../gen/piworkflows/host/v1/run_choices_pb.ts";
import type {
  WatchRunRequest,
  WatchRunResponse,
  WatchRunsRequest,
  WatchRunsResponse,
} from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { Cursor } from "../../gen/piworkflows/host/v1/run_choices_pb.ts";
import { HEARTBEAT_MS, PAGE_MAX, WATCH_POLL_MS } from "../limits.ts";
import type { RunStatus } from "../lifecycle/run.ts";
import { runDetails } from "../operations/queries.ts";
import { runStatusNames } from "./convert.ts";
import { findRunId } from "./lookups.ts";
import { viewSources } from "./parts.ts";
import type { HandlerParts } from "./parts.ts";
import { runSummary } from "./run-summary.ts";
import { runView } from "./run-view.ts";
import { watch } from "./watch.ts";

/** Statuses from which a run may still go on. */
const OPEN: readonly RunStatus[] = [
  "queued",
  "starting",
  "running",
  "waiting",
  "paused",
  "blocked",
];

export async function* watchRun(
  parts: HandlerParts,
  request: WatchRunRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchRunResponse> {
  const sources = viewSources(parts);
  const runId = findRunId(sources.reader, request.runId);
  let sent: Uint8Array = new Uint8Array();
  yield* watch(parts.host.clock, signal, {
    pollMs: WATCH_POLL_MS,
    subscribe: (touch) =>
      parts.host.store.subscribe(({ runIds }) => {
        if (runIds.includes(runId)) touch();
      }),
    look() {
      const cursor = presentCursor(parts);
      const details = runDetails(parts.host, runId);
      const last = details.run.finishedAt !== undefined;
      const run = runView(sources, details);
      // Rows, memory and captured output together make what is shown; its bytes tell all changes.
      const bytes = toBinary(RunViewSchema, run);
      if (Buffer.compare(bytes, sent) === 0) return { last };
      sent = bytes;
      return { message: create(WatchRunResponseSchema, { run, cursor }), last };
    },
    heartbeat: () => create(WatchRunResponseSchema, { cursor: presentCursor(parts) }),
  });
}

export async function* watchRuns(
  parts: HandlerParts,
  request: WatchRunsRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchRunsResponse> {
  const { reader } = viewSources(parts);
  // Taken before the snapshot: what changes while it is read is sent once more afterwards.
  let position = reader.events.lastPosition();
  const known = knownPosition(parts, request.cursor);
  if (known === undefined) yield* snapshot(parts, request, position);
  else position = known;
  const heartbeat = (runs: RunSummary[] = []): WatchRunsResponse =>
    create(WatchRunsResponseSchema, { runs, cursor: cursorAt(parts, position) });
  yield* watch(parts.host.clock, signal, {
    pollMs: HEARTBEAT_MS,
    subscribe: (touch) => parts.host.store.subscribe(touch),
    look() {
      const changes = reader.events.changedRuns(position, PAGE_MAX);
      position = changes.at(-1)?.position ?? position;
      const runs = summaries(
        parts,
        changes.map(({ runId }) => runId),
      );
      return { ...(changes.length === 0 ? {} : { message: heartbeat(runs) }), last: false };
    },
    heartbeat,
  });
}

/** All runs that fit, newest first, in pages; at least one, so that the end of it can be seen. */
function* snapshot(
  parts: HandlerParts,
  request: WatchRunsRequest,
  position: number,
): Generator<WatchRunsResponse> {
  const sources = viewSources(parts);
  const statuses = runStatusNames(request.statuses) ?? OPEN;
  const cursor = cursorAt(parts, position);
  let before: number | undefined;
  for (;;) {
    const filter = { statuses, limit: PAGE_MAX, ...(before === undefined ? {} : { before }) };
    const page = sources.reader.runs.page(filter);
    const runs = page.map((run) => runSummary(sources, run));
    yield create(WatchRunsResponseSchema, { runs, cursor, snapshot: true });
    if (page.length < PAGE_MAX) return;
    before = page.at(-1)?.position;
  }
}

function summaries(parts: HandlerParts, runIds: readonly string[]): RunSummary[] {
  const sources = viewSources(parts);
  return runIds
    .map((runId) => sources.reader.runs.get(runId))
    .filter((run) => run !== undefined)
    .map((run) => runSummary(sources, run));
}

/** The position of a cursor of this store; absent for one of another, or from the future. */
function knownPosition(parts: HandlerParts, cursor: Cursor | undefined): number | undefined {
  const { storeId, reader } = parts.host.store;
  if (cursor === undefined || cursor.storeId !== storeId) return undefined;
  const position = Number(cursor.position);
  return position <= reader.events.lastPosition() ? position : undefined;
}

function presentCursor(parts: HandlerParts): Cursor {
  return cursorAt(parts, parts.host.store.reader.events.lastPosition());
}

function cursorAt({ host }: HandlerParts, position: number): Cursor {
  return create(CursorSchema, { storeId: host.store.storeId, position: BigInt(position) });
}
