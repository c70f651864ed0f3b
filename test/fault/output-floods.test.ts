// Output without end, in one line or in billions, is the flooding run's own trouble: the host's
// memory stays flat, what was cut is told, and every other caller is answered as before.
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { valueJson } from "../../src/client/json-value.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startRun } from "../support/journeys.ts";
import { Voyage } from "../support/voyage.ts";

const { COMPLETED, FAILED } = RunStatus;
const MIB = 1024 * 1024;
const HOST_MEMORY_MAX = 300 * MIB;
const LATENCY_MS_MAX = 1000;
const BETWEEN_CALLS_MS = 50;
/** Head and tail of a worker, and a little of what describes them. */
const CAPTURED_MAX = 2 * MIB;

test("floods of three workers leave the host's memory and other callers alone", async () => {
  const voyage = new Voyage({ cleanUp: onTestFinished });
  const line = await startRun(voyage, "start line", "floods", { how: "line" });
  const lines = await startRun(voyage, "start lines", "floods", { how: "lines" });
  const errors = await startRun(voyage, "start errors", "floods", { how: "errors" });
  const seen = [...(await pollUntilEnded(voyage, line)), ...(await pollUntilEnded(voyage, lines))];
  await voyage.command("cancel", ({ runs }, command) => runs.cancelRun({ command, runId: errors }));
  expect(Math.max(...seen.map(({ bytes }) => bytes))).toBeLessThan(HOST_MEMORY_MAX);
  const late = seen.filter(({ ms }) => ms > LATENCY_MS_MAX);
  expect(late.length).toBeLessThanOrEqual(seen.length / 20);
  expect(await endOf(voyage, line)).toMatchObject({ status: COMPLETED, isWhole: true });
  expect(await endOf(voyage, lines)).toMatchObject({ status: COMPLETED, isWhole: true });
  expect(await droppedBytes(voyage, line)).toBeGreaterThan(298_000_000);
  expect(await droppedBytes(voyage, lines)).toBeGreaterThan(1_998_000_000);
  for (const size of captured(voyage)) expect(size).toBeLessThan(CAPTURED_MAX);
  await voyage.expectSound(line);
});

test("the flood of a command is cut by its worker, and the command still succeeds", async () => {
  const voyage = new Voyage({ cleanUp: onTestFinished });
  const runId = await startRun(voyage, "start", "floods", { how: "command" });
  const { result } = await voyage.untilStatus(runId, COMPLETED);
  const { kept } = valueJson(result) as { readonly kept: number };
  expect(kept).toBeGreaterThanOrEqual(1000);
  expect(kept).toBeLessThan(1200);
  const { residentBytes } = await voyage.ask(({ host }) => host.getStatus({}));
  expect(Number(residentBytes)).toBeLessThan(HOST_MEMORY_MAX);
});

test("a value over the limit fails its attempt and names the limit", async () => {
  const voyage = new Voyage({ cleanUp: onTestFinished });
  writeFileSync(join(voyage.project, "gate"), "");
  const bytes = 20 * MIB;
  const runId = await startRun(voyage, "start", "weighs", { bytes, heavyIn: "think" });
  const { error } = await voyage.untilStatus(runId, FAILED);
  expect(error?.message).toMatch(/outputs\.think.*8 MiB|outputs\.think.*8,?388,?608/);
  await voyage.expectSound(runId);
});

/** How a run ended, and whether the last thing it printed is there. */
async function endOf(
  voyage: Voyage,
  runId: string,
): Promise<{ readonly status: RunStatus | undefined; readonly isWhole: boolean }> {
  const { summary, outputTail } = await voyage.view(runId);
  return { status: summary?.status, isWhole: outputTail.endsWith("the end\n") };
}

interface Seen {
  readonly ms: number;
  readonly bytes: number;
}

/** Asks for the host's state again and again until the run has ended. */
async function pollUntilEnded(voyage: Voyage, runId: string): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  for (;;) {
    const begun = performance.now();
    const { residentBytes } = await voyage.ask(({ host }) => host.getStatus({}));
    seen.push({ ms: performance.now() - begun, bytes: Number(residentBytes) });
    if ((await voyage.view(runId)).summary?.finishedAt !== undefined) return seen;
    // The pace of somebody who looks, not a wait for something to happen.
    await sleep(BETWEEN_CALLS_MS);
  }
}

async function droppedBytes(voyage: Voyage, runId: string): Promise<number> {
  return voyage.ask(async ({ runs }) => {
    let dropped = 0;
    for await (const piece of runs.readRunLog({ runId })) dropped += Number(piece.droppedBytes);
    return dropped;
  });
}

/** Sizes of the files in which the output of workers is kept. */
function captured(voyage: Voyage): readonly number[] {
  const folder = join(voyage.state, "workers");
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size);
}
