// Whoever watches a run or waits for its end may die or stand still: the run does not notice, the host
// lets go of it, and what it asked for is there when somebody asks again.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { statePaths } from "../../src/platform/state-folder.ts";
import { startCli } from "../support/cli-process.ts";
import type { RunningCli } from "../support/cli-process.ts";
import { answer, workflowFile } from "../support/journeys.ts";
import { PATIENCE_MS, Voyage } from "../support/voyage.ts";

test("watch and start --wait that are killed leave the run alone, and the same key finds its end", async () => {
  const { voyage, waiting, watching, runId } = await clients();
  for (const { child } of [waiting, watching]) child.kill("SIGKILL");
  await vi.waitUntil(async () => (await streams(voyage)) === 0, PATIENCE_MS);
  await voyage.untilStatus(runId, RunStatus.WAITING);
  await answer(voyage, runId);
  const again = await startAndWait(voyage).end;
  expect(again.code).toBe(0);
  expect(again.stderr).toContain(`${runId} was started before with the same key`);
  expect(again.stdout).toContain('"stamped"');
  expect((await voyage.ask(({ runs }) => runs.listRuns({}))).runs).toHaveLength(1);
  expect(voyage.effects(runId)).toEqual({ "line:write:1": 1, "stamp:stamp:1": 1 });
  await voyage.expectSound(runId);
});

test("watch and start --wait that stand still hold nobody up, and see the end when they go on", async () => {
  const { voyage, waiting, watching, runId } = await clients();
  for (const { child } of [waiting, watching]) child.kill("SIGSTOP");
  await answer(voyage, runId);
  await voyage.untilStatus(runId, RunStatus.COMPLETED);
  // The host does not wait until they have read the end.
  await vi.waitUntil(async () => (await streams(voyage)) === 0, PATIENCE_MS);
  for (const { child } of [waiting, watching]) child.kill("SIGCONT");
  for (const { end } of [waiting, watching]) {
    const { code, stdout } = await end;
    expect(code).toBe(0);
    expect(stdout).toContain('"stamped"');
  }
  await voyage.expectSound(runId);
});

test("watch says that a host stands still, and follows it on", async () => {
  const { voyage, waiting, watching, runId } = await clients();
  const { pid } = await voyage.host();
  process.kill(pid, "SIGSTOP");
  onTestFinished(() => void process.kill(pid, "SIGCONT"));
  await vi.waitUntil(() => watching.stderr() !== "", PATIENCE_MS);
  expect(watching.stderr()).toContain(`kill -CONT ${pid}`);
  process.kill(pid, "SIGCONT");
  await answer(voyage, runId);
  for (const { end } of [waiting, watching]) expect(await end).toMatchObject({ code: 0 });
  expect((await voyage.host()).pid).toBe(pid);
  await voyage.expectSound(runId);
});

interface Clients {
  readonly voyage: Voyage;
  readonly runId: string;
  readonly waiting: RunningCli;
  readonly watching: RunningCli;
}

/** A run that asks something, one client that started it and waits, and one that watches. */
async function clients(): Promise<Clients> {
  const voyage = new Voyage({ cleanUp: onTestFinished });
  const { paths } = await voyage.host();
  const waiting = startAndWait(voyage);
  await vi.waitUntil(() => existsSync(join(voyage.project, "effects")), PATIENCE_MS);
  const [run] = (await voyage.ask(({ runs }) => runs.listRuns({}))).runs;
  const runId = run?.runId ?? "";
  await voyage.untilStatus(runId, RunStatus.WAITING);
  const watching = startCli({ paths }, "watch", runId, "--stay");
  await vi.waitUntil(async () => (await streams(voyage)) === 2, PATIENCE_MS);
  return { voyage, runId, waiting, watching };
}

function startAndWait(voyage: Voyage): RunningCli {
  const input = JSON.stringify({ folder: voyage.project });
  const paths = statePaths({ ...process.env, PI_WORKFLOWS_HOME: voyage.state });
  const options = { paths, cwd: voyage.project };
  const args = ["--input", input, "--wait", "--stay", "--key", "once"];
  return startCli(options, "start", workflowFile("travels"), ...args);
}

async function streams(voyage: Voyage): Promise<number> {
  return (await voyage.ask(({ host }) => host.getStatus({}))).attachedStreams;
}
