import { existsSync, mkdirSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CAPTURE_HEAD_BYTES, CAPTURE_TAIL_BYTES } from "../../src/host/limits.ts";
import type { OutputPiece } from "../../src/host/supervisor/capture-file.ts";
import type { SupervisedWorker } from "../../src/host/supervisor/supervised-worker.ts";
import { busyRig, endOf } from "../support/supervised.ts";
import { act } from "../support/supervisor-rig.ts";
import type { Rig, RigOptions } from "../support/supervisor-rig.ts";

const MIB = 1_048_576;
const FLOOD_BYTES = 300 * MIB;
const LAST_WORD = "the end";

describe("output of a worker", () => {
  test("is kept from the moment it was taken, readable by its owner alone", async () => {
    const { rig, worker, file } = await busy({ child: "prints" });
    act(worker, "before it was bound, ");
    await expect.poll(() => worker.outputTail(100)).toBe("before it was bound, ");
    expect(existsSync(file)).toBe(false);
    worker.bind("run_1", 1);
    act(worker, "and after");
    await expect.poll(() => text(rig, worker)).toBe("before it was bound, and after");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("is followed while it is written, and ends with the worker", async () => {
    const { rig, worker } = await busy({ child: "prints" });
    worker.bind("run_1", 1);
    const pieces = rig.supervisor.followLog(worker.id, { from: 0 });
    act(worker, "one");
    expect(show(await pieces.next())).toBe("one");
    act(worker, "two");
    expect(show(await pieces.next())).toBe("two");
    const last = pieces.next();
    worker.kill();
    expect(await last).toEqual({ done: true, value: undefined });
  });

  test("is no longer waited for when the reader has gone", async () => {
    const { rig, worker } = await busy({ child: "prints" });
    worker.bind("run_1", 1);
    const gone = new AbortController();
    const next = rig.supervisor.followLog(worker.id, { from: 0, signal: gone.signal }).next();
    gone.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test("is removed with its run", async () => {
    const { rig, worker, file } = await busy({ child: "prints" });
    worker.bind("run_1", 1);
    act(worker, "words");
    await expect.poll(() => text(rig, worker)).toBe("words");
    expect(rig.supervisor.removeLogs(() => false)).toBe(0);
    worker.kill();
    await endOf(worker);
    expect(rig.supervisor.removeLogs((id) => id === worker.id)).toBe(0);
    expect(existsSync(file)).toBe(true);
    expect(rig.supervisor.removeLogs(() => false)).toBe(1);
    expect(rig.supervisor.removeLogs(() => false)).toBe(0);
    expect(existsSync(file)).toBe(false);
    expect(rig.supervisor.readLog(worker.id).totalBytes).toBe(0);
  });

  test("of somebody who is no worker is no file", async () => {
    const { rig } = await busy({ child: "prints" });
    for (const id of ["../host", "wrk_../../etc/passwd", "wrk_", ""]) {
      expect(() => rig.supervisor.readLog(id)).toThrow("no id of a worker");
    }
  });

  test("that comes from an heir of the dead worker is kept until the heir falls silent", async () => {
    const { rig, worker } = await busy({ child: "heir-prints-on" });
    worker.bind("run_1", 1);
    act(worker);
    await endOf(worker);
    expect(text(rig, worker)).toContain("line 10");
    const { id: workerId, pid, startTime } = worker;
    await rig.supervisor.endTree({ workerId, pid, startTime, groups: [] });
  });

  test("that no disk takes costs the output and nothing else", async () => {
    const { rig, worker, file } = await busy({ child: "prints" });
    // A folder in the file's place refuses every write, as a full disk does.
    mkdirSync(file);
    worker.bind("run_1", 1);
    act(worker, "unheard");
    await expect.poll(() => rig.logged.map(({ event }) => event)).toEqual(["output.not_stored"]);
    expect(worker.outputTail(100)).toBe("unheard");
    rmdirSync(file);
    // Once the disk takes it again nothing was lost.
    await expect.poll(() => text(rig, worker), { timeout: 5_000 }).toBe("unheard");
  });
});

// A child that prints without end once grew its supervisor until both died.
describe("a flood of 300 MB without a newline", () => {
  test("costs the host little memory, little time, and keeps head and tail", async () => {
    const { rig, worker, file } = await busy({ child: "floods-stdout" });
    worker.bind("run_1", 1);
    const rssBefore = process.memoryUsage.rss();
    const cpuBefore = process.cpuUsage();
    const watch = watchHost();
    act(worker, String(FLOOD_BYTES));
    expect((await endOf(worker)).code).toBe(0);
    const { rssMax, longestTurnMs } = watch();
    const cpu = process.cpuUsage(cpuBefore);

    expect(rssMax - rssBefore).toBeLessThan(40 * MIB);
    expect((cpu.user + cpu.system) / 1_000).toBeLessThan(3_000);
    expect(longestTurnMs).toBeLessThan(500);

    const kept = rig.supervisor.readLog(worker.id);
    expect(kept.totalBytes).toBe(FLOOD_BYTES + LAST_WORD.length);
    expect(kept.head).toHaveLength(CAPTURE_HEAD_BYTES);
    expect(kept.tail).toHaveLength(CAPTURE_TAIL_BYTES);
    expect(kept.droppedBytes).toBe(kept.totalBytes - CAPTURE_HEAD_BYTES - CAPTURE_TAIL_BYTES);
    expect(Buffer.from(kept.tail.subarray(-10)).toString()).toBe(`xxx${LAST_WORD}`);
    expect(worker.outputTail(8)).toBe(`x${LAST_WORD}`);
    expect(statSync(file).size).toBeLessThan(1.1 * MIB + 64 * 1_024);
  });

  test("is read by a follower as head, a count of what was cut, and tail", async () => {
    const { rig, worker } = await busy({ child: "floods-stdout" });
    worker.bind("run_1", 1);
    act(worker, String(20 * MIB));
    await endOf(worker);
    const pieces: OutputPiece[] = [];
    for await (const piece of rig.supervisor.followLog(worker.id, { from: 0 })) pieces.push(piece);
    const bytes = pieces.reduce((sum, { data }) => sum + data.length, 0);
    const cut = pieces.map(({ droppedBytes }) => droppedBytes).filter((count) => count > 0);
    expect(bytes).toBe(CAPTURE_HEAD_BYTES + CAPTURE_TAIL_BYTES);
    expect(cut).toEqual([20 * MIB + LAST_WORD.length - bytes]);
  });
});

test("output of an earlier host's workers stays readable, and an id is never mistaken", async () => {
  const first = await busy({ child: "prints" });
  first.worker.bind("run_1", 1);
  act(first.worker, "of long ago");
  await expect.poll(() => text(first.rig, first.worker)).toBe("of long ago");
  first.worker.kill();
  await endOf(first.worker);
  await first.rig.supervisor.stop(0);

  const second = await busy({ child: "prints", workersDir: first.rig.folder });
  expect(text(second.rig, first.worker)).toBe("of long ago");
  // What is no capture file is told as empty rather than believed.
  writeFileSync(join(first.rig.folder, "wrk_broken.out"), "not ours");
  expect(second.rig.supervisor.readLog("wrk_broken").totalBytes).toBe(0);
});

async function busy(
  options: RigOptions,
): Promise<{ rig: Rig; worker: SupervisedWorker; file: string }> {
  const { rig, worker } = await busyRig(options);
  return { rig, worker, file: join(rig.folder, `${worker.id}.out`) };
}

function text(rig: Rig, worker: SupervisedWorker): string {
  const { head, tail } = rig.supervisor.readLog(worker.id);
  return Buffer.concat([head, tail]).toString();
}

function show(result: IteratorResult<OutputPiece>): string {
  return result.done === true ? "end" : Buffer.from(result.value.data).toString();
}

/** Looks at this process in every turn of its loop until the returned function is called. */
function watchHost(): () => { readonly rssMax: number; readonly longestTurnMs: number } {
  let rssMax = 0;
  let longestTurnMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longestTurnMs = Math.max(longestTurnMs, now - last);
    last = now;
    rssMax = Math.max(rssMax, process.memoryUsage.rss());
  }, 5);
  return () => {
    clearInterval(timer);
    return { rssMax, longestTurnMs };
  };
}
