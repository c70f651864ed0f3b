// A machine that is put to sleep stops everything at once: host, workers, their commands and whoever
// looks on. Nobody could have renewed anything meanwhile, so nobody may lose anything by it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { RunView } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { taggedProcesses } from "../../src/platform/process-identity.ts";
import { startCli } from "../support/cli-process.ts";
import { answer, startRun } from "../support/journeys.ts";
import { PATIENCE_MS, Voyage } from "../support/voyage.ts";

const LEASE_MS = 3_000;
const ENV = {
  PI_WORKFLOWS_CLAIM_MS: String(LEASE_MS),
  PI_WORKFLOWS_RENEW_MS: "1000",
  PI_WORKFLOWS_CAPACITY: "8",
};
/** Falls due while everything stands still. */
const DUE_MS = 2 * LEASE_MS;

test.for([{ first: "host" }, { first: "last worker" }])(
  "three leases of sleep cost no run anything, when the $first wakes first",
  async ({ first }) => {
    const voyage = new Voyage({ cleanUp: onTestFinished, env: () => ENV });
    const { pid: host, paths } = await voyage.host();
    const executing = await Promise.all(
      ["ticks", "runs-until", "spins"].map((name) => startRun(voyage, name, name)),
    );
    const asks = await startRun(voyage, "travels", "travels");
    await voyage.untilStatus(asks, RunStatus.WAITING);
    const due = await startRun(voyage, "wait", waiting(voyage));
    await voyage.untilStatus(due, RunStatus.WAITING);
    for (const file of ["ticks", "begun", "spinning"])
      await vi.waitUntil(() => existsSync(join(voyage.project, file)), PATIENCE_MS);
    const before = await Promise.all(executing.map((runId) => voyage.view(runId)));
    const watching = startCli({ paths }, "watch", executing[0] ?? "", "--stay");
    await vi.waitUntil(() => watching.stdout() !== "", PATIENCE_MS);

    const workers = taggedProcesses(sha256Hex(paths.folder).slice(0, 16)).map(({ pid }) => pid);
    const all = [host, watching.child.pid ?? 0, ...workers];
    await suspend(all, first === "host" ? all : all.toReversed());

    await answer(voyage, asks);
    await voyage.untilStatus(asks, RunStatus.COMPLETED);
    await voyage.untilStatus(due, RunStatus.COMPLETED);
    expect((await kindsOf(voyage, due)).filter((kind) => kind === "settle")).toHaveLength(1);
    // More than a lease of the host's own time: a claim that was to run out would have done so.
    const lines = ticks(voyage);
    await vi.waitUntil(() => ticks(voyage) > lines + 45, PATIENCE_MS);
    expect((await voyage.ask((one) => one.host.getStatus({}))).expiredClaims).toBe(0);
    writeFileSync(join(voyage.project, "gate"), "");
    for (const view of before) await expectUndisturbed(voyage, view);
    expect(readFileSync(join(voyage.project, "begun"), "utf8").trim().split("\n")).toHaveLength(1);
    expect((await voyage.host()).pid).toBe(host);
    expect(await watching.end).toMatchObject({ code: 0 });
  },
);

async function suspend(all: readonly number[], awake: readonly number[]): Promise<void> {
  onTestFinished(() => all.forEach((pid) => signal(pid, "SIGCONT")));
  for (const pid of all) signal(pid, "SIGSTOP");
  await sleep(3 * LEASE_MS);
  for (const pid of awake) signal(pid, "SIGCONT");
}

/** It ends with the worker that it had, and each of its nodes was tried once. */
async function expectUndisturbed(voyage: Voyage, { summary, worker }: RunView): Promise<void> {
  const runId = summary?.runId ?? "";
  const ended = await voyage.untilStatus(runId, RunStatus.COMPLETED);
  expect(ended.worker?.workerId).toBe(worker?.workerId);
  expect(new Set(ended.attempts.map(({ node }) => node)).size).toBe(ended.attempts.length);
  expect(await kindsOf(voyage, runId)).not.toContain("interrupt");
  await voyage.expectSound(runId);
}

/** One that ended in this moment needs no signal. */
function signal(pid: number, name: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone.
  }
}

async function kindsOf(voyage: Voyage, runId: string): Promise<readonly string[]> {
  return (await voyage.events(runId)).map(({ kind }) => kind);
}

function ticks(voyage: Voyage): number {
  return readFileSync(join(voyage.project, "ticks"), "utf8").length;
}

function waiting(voyage: Voyage): string {
  const file = join(voyage.project, "waits.workflow.mjs");
  writeFileSync(
    file,
    'import { defineWorkflow, wait } from "pi-workflows";\n' +
      `export default defineWorkflow({ name: "waits", startAt: "rest", nodes: { rest: wait({ forMs: ${DUE_MS} }) } });\n`,
  );
  return file;
}
