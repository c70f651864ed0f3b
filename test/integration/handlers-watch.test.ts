import { describe, expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type {
  WatchRunResponse,
  WatchRunsResponse,
} from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { HEARTBEAT_MS, PAGE_MAX, WATCH_POLL_MS } from "../../src/host/limits.ts";
import { writeProgress } from "../../src/host/operations/progress.ts";
import { admitRun } from "../../src/host/operations/runs.ts";
import { command, startHandlers } from "../support/handler-rig.ts";
import type { HandlerRig } from "../support/handler-rig.ts";
import { admission } from "../support/test-host.ts";
import { COMPLETE, OK, next } from "../support/test-worker.ts";

interface Watching<T> {
  /** The next message; nothing at the end of the stream. */
  next(): Promise<T | undefined>;
  end(): Promise<void>;
}

function watching<T>(stream: AsyncIterable<T>): Watching<T> {
  const messages = stream[Symbol.asyncIterator]();
  return {
    async next() {
      const result: IteratorResult<T, unknown> = await messages.next();
      return result.done === true ? undefined : result.value;
    },
    async end() {
      await messages.return?.();
    },
  };
}

/** The next message, while the clock goes on so that a watcher that rests comes back. */
async function nextOf<T>({ rig }: HandlerRig, watch: Watching<T>): Promise<T | undefined> {
  let arrived = false;
  const message = watch.next().finally(() => {
    arrived = true;
  });
  await expect
    .poll(
      () => {
        rig.at.clock.advance(WATCH_POLL_MS);
        return arrived;
      },
      { interval: 1 },
    )
    .toBe(true);
  return message;
}

function statusOf(message: WatchRunResponse | undefined): RunStatus | undefined {
  return message?.run?.summary?.status;
}

function idsOf(message: WatchRunsResponse | undefined): readonly string[] {
  return message?.runs.map(({ runId }) => runId) ?? [];
}

describe("WatchRun", () => {
  test("sends the present state, each change, and ends with the run", async () => {
    const handlers = startHandlers();
    const { runs, rig, streams } = handlers;
    const worker = await rig.running("hub");
    const watch = watching(runs.watchRun({ runId: worker.runId }));
    const first = await watch.next();
    expect(statusOf(first)).toBe(RunStatus.RUNNING);
    expect(first?.cursor?.storeId).toBe(rig.at.store.storeId);
    expect(streams.open).toBe(1);
    await worker.advance(OK, next("end"));
    expect((await nextOf(handlers, watch))?.run?.summary?.node).toBe("end");
    await worker.advance(OK, COMPLETE);
    expect(statusOf(await nextOf(handlers, watch))).toBe(RunStatus.COMPLETED);
    expect(await watch.next()).toBeUndefined();
    expect(streams.open).toBe(0);
  });

  test("of a run that has ended sends its state and ends", async () => {
    const { runs, rig } = startHandlers();
    const runId = await rig.admit();
    await runs.cancelRun({ command: command(), runId });
    const watch = watching(runs.watchRun({ runId }));
    expect(statusOf(await watch.next())).toBe(RunStatus.CANCELLED);
    expect(await watch.next()).toBeUndefined();
  });

  test("skips states for a slow reader and never the last", async () => {
    const handlers = startHandlers();
    const { runs, rig } = handlers;
    const worker = await rig.running("hub");
    const watch = watching(runs.watchRun({ runId: worker.runId }));
    await watch.next();
    for (let count = 0; count < 10; count += 1) await worker.advance(OK, next("hub"));
    await worker.advance(OK, next("end"));
    await worker.advance(OK, COMPLETE);
    expect(statusOf(await nextOf(handlers, watch))).toBe(RunStatus.COMPLETED);
    expect(await watch.next()).toBeUndefined();
  });

  test("shows progress, which is no event", async () => {
    const handlers = startHandlers();
    const { runs, rig } = handlers;
    const worker = await rig.running("hub");
    const watch = watching(runs.watchRun({ runId: worker.runId }));
    const before = await watch.next();
    const { runId, generation } = worker.proof;
    await writeProgress(rig.host, { runId, generation, node: "hub", text: "half done" });
    const after = await nextOf(handlers, watch);
    expect(after?.run?.progress).toMatchObject([{ node: "hub", text: "half done" }]);
    expect(after?.run?.summary?.revision).toBe(before?.run?.summary?.revision);
    await watch.end();
  });

  test("shows by a heartbeat that the host is there", async () => {
    const handlers = startHandlers();
    const { runs, rig } = handlers;
    const runId = await rig.admit();
    const watch = watching(runs.watchRun({ runId }));
    await watch.next();
    const begun = rig.at.clock.monotonic();
    const beat = await nextOf(handlers, watch);
    expect(beat?.run).toBeUndefined();
    expect(beat?.cursor?.position).toBe(1n);
    expect(rig.at.clock.monotonic() - begun).toBeGreaterThanOrEqual(HEARTBEAT_MS);
    await watch.end();
  });
});

describe("WatchRuns", () => {
  test("sends all that have not ended, then each that changes", async () => {
    const handlers = startHandlers();
    const { runs, rig } = handlers;
    const ended = await rig.admit();
    await runs.cancelRun({ command: command(), runId: ended });
    const open = await rig.admit();
    const watch = watching(runs.watchRuns({}));
    const snapshot = await watch.next();
    expect(snapshot?.snapshot).toBe(true);
    expect(idsOf(snapshot)).toEqual([open]);
    const later = await rig.admit();
    await runs.pauseRun({ command: command(), runId: open });
    const change = await nextOf(handlers, watch);
    expect(change?.snapshot).toBe(false);
    expect(idsOf(change).toSorted()).toEqual([open, later].toSorted());
    await watch.end();
  });

  test("sends an empty snapshot too, so that its end can be seen", async () => {
    const { runs } = startHandlers();
    const watch = watching(runs.watchRuns({}));
    expect(await watch.next()).toMatchObject({ snapshot: true, runs: [] });
    await watch.end();
  });

  test("goes on from a cursor without a gap and without a repeat", async () => {
    const handlers = startHandlers();
    const { runs, rig } = handlers;
    const seen = await rig.admit();
    const first = watching(runs.watchRuns({}));
    const cursor = (await first.next())?.cursor;
    await first.end();
    const missed = await rig.admit();
    if (cursor === undefined) throw new Error("no cursor was sent");
    const second = watching(runs.watchRuns({ cursor }));
    const change = await second.next();
    expect(change?.snapshot).toBe(false);
    expect(idsOf(change)).toEqual([missed]);
    await runs.cancelRun({ command: command(), runId: seen });
    expect(idsOf(await nextOf(handlers, second))).toEqual([seen]);
    await second.end();
  });

  test.each([
    ["of another store", "str_other", 0n],
    ["from the future", undefined, 99n],
  ])("answers a cursor %s with a fresh snapshot", async (_, storeId, position) => {
    const { runs, rig } = startHandlers();
    const runId = await rig.admit();
    const cursor = { storeId: storeId ?? rig.at.store.storeId, position };
    const watch = watching(runs.watchRuns({ cursor }));
    const snapshot = await watch.next();
    expect(snapshot?.snapshot).toBe(true);
    expect(idsOf(snapshot)).toEqual([runId]);
    await watch.end();
  });

  test("sends more than one page of runs once each", async () => {
    const { runs, rig } = startHandlers();
    const admissions = Array.from({ length: PAGE_MAX + 1 }, () =>
      admitRun(rig.host, rig.asked("StartRun"), admission()),
    );
    await Promise.all(admissions);
    const watch = watching(runs.watchRuns({}));
    const pages = [await watch.next(), await watch.next()];
    expect(pages.map((page) => page?.runs.length)).toEqual([PAGE_MAX, 1]);
    expect(new Set(pages.flatMap(idsOf)).size).toBe(PAGE_MAX + 1);
    await watch.end();
  });
});
