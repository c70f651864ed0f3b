/** The captured output of a run's workers, one after the other. */
import { create } from "@bufbuild/protobuf";
import { ReadRunLogResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type {
  ReadRunLogRequest,
  ReadRunLogResponse,
} from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { Clock } from "../../platform/clock.ts";
import { HEARTBEAT_MS } from "../limits.ts";
import { findRunId } from "./lookups.ts";
import type { HandlerParts } from "./parts.ts";
import { Waker } from "./waker.ts";

/** Where the output of one worker is read from. */
interface Stretch {
  readonly workerId: string;
  readonly from: number;
  /** Where it ends; absent to go on until the worker has ended. */
  readonly to?: number;
}

export async function* readRunLog(
  parts: HandlerParts,
  request: ReadRunLogRequest,
  signal: AbortSignal,
): AsyncGenerator<ReadRunLogResponse> {
  const runId = findRunId(parts.host.store.reader, request.runId);
  const tailBytes = Number(request.tailBytes);
  const pieces = request.follow
    ? followRun(parts, { runId, tailBytes }, signal)
    : keptOfRun(parts, { runId, tailBytes }, signal);
  yield* withHeartbeats(parts.host.clock, pieces);
}

interface Wanted {
  readonly runId: string;
  /** 0 means all that is kept. */
  readonly tailBytes: number;
}

async function* keptOfRun(
  parts: HandlerParts,
  wanted: Wanted,
  signal: AbortSignal,
): AsyncGenerator<ReadRunLogResponse> {
  for (const stretch of keptStretches(parts, wanted)) yield* piecesOf(parts, stretch, signal);
}

async function* followRun(
  parts: HandlerParts,
  wanted: Wanted,
  signal: AbortSignal,
): AsyncGenerator<ReadRunLogResponse> {
  const { clock, store } = parts.host;
  const waker = new Waker(clock, signal);
  const unsubscribe = store.subscribe(({ runIds }) => {
    if (runIds.includes(wanted.runId)) waker.touch();
  });
  const begun = new Set<string>();
  let waiting = keptStretches(parts, wanted);
  try {
    for (;;) {
      // Asked first: a worker that ends the run now is then found in the next round.
      const run = store.reader.runs.get(wanted.runId);
      for (const { workerId, from } of waiting) {
        begun.add(workerId);
        yield* piecesOf(parts, { workerId, from }, signal);
      }
      waiting = workersOf(parts, wanted.runId)
        .filter((workerId) => !begun.has(workerId))
        .map((workerId) => ({ workerId, from: 0 }));
      if (waiting.length > 0) continue;
      if (run === undefined || run.finishedAt !== undefined) return;
      await waker.wait(HEARTBEAT_MS);
      signal.throwIfAborted();
    }
  } finally {
    unsubscribe();
  }
}

async function* piecesOf(
  { supervisor }: HandlerParts,
  { workerId, from, to }: Stretch,
  signal: AbortSignal,
): AsyncGenerator<ReadRunLogResponse> {
  if (to !== undefined && from >= to) return;
  for await (const piece of supervisor.followLog(workerId, { from, signal })) {
    yield create(ReadRunLogResponseSchema, {
      workerId,
      data: piece.data,
      droppedBytes: BigInt(piece.droppedBytes),
    });
    if (to !== undefined && piece.next >= to) return;
  }
  // Cut off is not the same as read to the end.
  signal.throwIfAborted();
}

/** What is kept now of each worker of the run, or the end of it. */
function keptStretches(parts: HandlerParts, { runId, tailBytes }: Wanted): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let left = tailBytes === 0 ? Number.MAX_SAFE_INTEGER : tailBytes;
  for (const workerId of workersOf(parts, runId).toReversed()) {
    const to = parts.supervisor.readLog(workerId).totalBytes;
    const from = Math.max(0, to - left);
    left -= to - from;
    stretches.unshift({ workerId, from, to });
  }
  return stretches;
}

function workersOf({ host }: HandlerParts, runId: string): readonly string[] {
  return host.store.reader.workers.ofRun(runId).map(({ workerId }) => workerId);
}

/** The same pieces, and an empty one whenever there was none for a while. */
async function* withHeartbeats(
  clock: Clock,
  pieces: AsyncGenerator<ReadRunLogResponse>,
): AsyncGenerator<ReadRunLogResponse> {
  let next = pieces.next();
  try {
    for (;;) {
      const result = await nextOrBeat(clock, next);
      if (result === undefined) {
        yield create(ReadRunLogResponseSchema, {});
        continue;
      }
      if (result.done === true) return;
      yield result.value;
      next = pieces.next();
    }
  } finally {
    // Not waited for: it ends when what it waits for comes, or its signal fires. Nobody is
    // left who could be told of an error.
    void Promise.allSettled([next, pieces.return(undefined)]);
  }
}

async function nextOrBeat(
  clock: Clock,
  next: Promise<IteratorResult<ReadRunLogResponse>>,
): Promise<IteratorResult<ReadRunLogResponse> | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = clock.after(HEARTBEAT_MS, () => resolve(undefined));
  try {
    return await Promise.race([next, promise]);
  } finally {
    timer.cancel();
  }
}
