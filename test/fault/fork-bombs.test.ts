// Ten processes that start another in their place and end, again and again, some in a new session
// each time: by the time that somebody has read their numbers they have others. Nothing of them may
// be alive once the end of their run, their worker or their host was acted upon.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { TAG_VARIABLE, taggedProcesses } from "../../src/platform/process-identity.ts";
import { startRun } from "../support/journeys.ts";
import { PATIENCE_MS, Voyage } from "../support/voyage.ts";
import type { CleanUp } from "../support/real-host.ts";

/** By then each of the ten has changed its number several times. */
const HOPS = 60;
/** So many looks in a row that see nothing are believed. */
const LOOKS = 20;

test("one of them is seen by every look, though it is another each time", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hop-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "hop.sh");
  writeFileSync(file, 'echo $$; setsid sh "$0" &\n');
  const tag = `hop${process.pid}`;
  const env = { ...process.env, [TAG_VARIABLE]: tag };
  const first = spawn("sh", [file], { env, stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(first, "close");
  const pids = new Set<string>();
  first.stdout.on("data", (chunk: Buffer) => {
    for (const pid of chunk.toString().trim().split("\n")) pids.add(pid);
  });
  let blind = 0;
  for (let looks = 0; looks < LOOKS || pids.size < HOPS; looks += 1) {
    if (taggedProcesses(tag).length === 0) blind += 1;
    await new Promise(setImmediate);
  }
  rmSync(file);
  await ended;
  expect(blind).toBe(0);
});

test("a cancel ends them", async ({ onTestFinished: cleanUp }) => {
  const { voyage, runId } = await lit(cleanUp);
  await voyage.command("cancel", ({ runs }, command) => runs.cancelRun({ command, runId }));
  await nothingHops(voyage);
  expect((await voyage.view(runId)).summary?.status).toBe(RunStatus.CANCELLED);
  await voyage.expectSound(runId);
});

test("they end with their killed worker, before the run is launched again", async ({
  onTestFinished: cleanUp,
}) => {
  const { voyage, runId } = await lit(cleanUp);
  const { worker } = await voyage.view(runId);
  process.kill(worker?.pid ?? 0, "SIGKILL");
  const again = await voyage.until(runId, ({ attempts }) => attempts.length > 1);
  const hops = hopsOf(voyage);
  await voyage.untilStatus(again.summary?.runId ?? "", RunStatus.COMPLETED);
  expect(hopsOf(voyage)).toBe(hops);
  await nothingHops(voyage);
  await voyage.expectSound(runId);
});

test("the host after a killed one ends them, before the run is launched again", async ({
  onTestFinished: cleanUp,
}) => {
  const { voyage, runId } = await lit(cleanUp);
  await voyage.leave("kill");
  await voyage.until(runId, ({ attempts }) => attempts.length > 1);
  const hops = hopsOf(voyage);
  await voyage.untilStatus(runId, RunStatus.COMPLETED);
  expect(hopsOf(voyage)).toBe(hops);
  await nothingHops(voyage);
  await voyage.expectSound(runId);
});

async function lit(cleanUp: CleanUp): Promise<{ readonly voyage: Voyage; readonly runId: string }> {
  const voyage = new Voyage({ cleanUp });
  const runId = await startRun(voyage, "start", "bombs");
  await vi.waitUntil(() => hopsOf(voyage) > HOPS, PATIENCE_MS);
  // Should the test fail: without it none of them starts another.
  cleanUp(() => rmSync(join(voyage.project, "hop.sh")));
  return { voyage, runId };
}

function hopsOf(voyage: Voyage): number {
  const file = join(voyage.project, "hops");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length : 0;
}

/** Nothing that descends from a worker is seen in a row of looks. */
async function nothingHops(voyage: Voyage): Promise<void> {
  const tag = sha256Hex((await voyage.host()).paths.folder).slice(0, 16);
  let quiet = 0;
  await vi.waitUntil(
    () => {
      quiet = taggedProcesses(tag).length === 0 ? quiet + 1 : 0;
      return quiet === LOOKS;
    },
    { timeout: PATIENCE_MS, interval: 10 },
  );
}
