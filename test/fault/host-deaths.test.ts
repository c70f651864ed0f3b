// The host may die or freeze at any moment and be started by many at once. A client that asks again
// under its key finds one host, one run, and everything as it was.
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { describe, expect, test, vi } from "vitest";
import { toValue } from "../../src/cli/values.ts";
import { valueJson } from "../../src/client/json-value.ts";
import { isHostGone, isRejectedFor } from "../../src/client/rejection.ts";
import { openHostLink } from "../../src/client/transport.ts";
import { Outcome } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { RunService } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { taggedProcesses } from "../../src/platform/process-identity.ts";
import { answer, startRun, workflowFile } from "../support/journeys.ts";
import { startRealHost } from "../support/real-host.ts";
import { PATIENCE_MS, Voyage } from "../support/voyage.ts";
import type { CleanUp } from "../support/real-host.ts";

const SHORT_LEASE = { PI_WORKFLOWS_CLAIM_MS: "3000", PI_WORKFLOWS_RENEW_MS: "1000" };

describe.concurrent("a host that is killed", () => {
  test("while a run waits for an answer takes the answer afterwards, once", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = voyageOf(cleanUp);
    const runId = await startRun(voyage, "start", "travels");
    await voyage.untilStatus(runId, RunStatus.WAITING);
    await voyage.leave("kill");
    await answer(voyage, runId);
    await voyage.leave("kill");
    const { result } = await voyage.untilStatus(runId, RunStatus.COMPLETED);
    expect(valueJson(result)).toMatchObject({ answer: "yes" });
    await voyage.expectSound(runId);
  });

  test("while a timer falls due fires it once when it is back", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = voyageOf(cleanUp);
    const runId = await startRun(voyage, "start", resting(voyage, 400));
    const { summary } = await voyage.untilStatus(runId, RunStatus.WAITING);
    await voyage.leave("kill");
    const due = Number(summary?.dueAt?.seconds ?? 0n) * 1000 + (summary?.dueAt?.nanos ?? 0) / 1e6;
    await vi.waitUntil(() => Date.now() > due, PATIENCE_MS);
    await voyage.untilStatus(runId, RunStatus.COMPLETED);
    const kinds = (await voyage.events(runId)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "settle")).toHaveLength(1);
    await voyage.expectSound(runId);
  });

  test("while it stops, with an effect being applied, loses nothing", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = voyageOf(cleanUp);
    const gate = join(voyage.project, "gate");
    const runId = await startRun(voyage, "start", "travels", { lingersFor: [gate] });
    await vi.waitUntil(() => existsSync(join(voyage.project, "effects")), PATIENCE_MS);
    await voyage.ask(({ host }) => host.shutdown({}));
    await voyage.leave("kill");
    writeFileSync(gate, "");
    await voyage.untilStatus(runId, RunStatus.WAITING);
    // Idempotent, and nobody knew whether it had happened: once more under the same key.
    expect(voyage.effects(runId)).toEqual({ "line:write:1": 2, "stamp:stamp:1": 1 });
    await voyage.expectSound(runId);
  });

  test("takes its workers with it, also those whose loop is held", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = voyageOf(cleanUp);
    const first = await startRun(voyage, "start 1", "spins");
    const second = await startRun(voyage, "start 2", "travels", { holdsFor: "/nowhere" });
    await vi.waitUntil(() => existsSync(join(voyage.project, "spinning")), PATIENCE_MS);
    await voyage.untilStatus(second, RunStatus.RUNNING);
    const tag = sha256Hex((await voyage.host()).paths.folder).slice(0, 16);
    expect(taggedProcesses(tag).length).toBeGreaterThanOrEqual(2);
    await voyage.leave("kill");
    await vi.waitUntil(() => taggedProcesses(tag).length === 0, PATIENCE_MS);
    writeFileSync(join(voyage.project, "gate"), "");
    await voyage.untilStatus(first, RunStatus.COMPLETED);
  });
});

test.concurrent("a host stopped for longer than a lease takes no claim away when it goes on", async ({
  onTestFinished: cleanUp,
}) => {
  const voyage = voyageOf(cleanUp, SHORT_LEASE);
  const { pid } = await voyage.host();
  const runId = await startRun(voyage, "start", "ticks");
  await vi.waitUntil(() => ticks(voyage) > 2, PATIENCE_MS);
  process.kill(pid, "SIGSTOP");
  // The worker counts the time that the host does not see.
  const before = ticks(voyage);
  await vi.waitUntil(() => ticks(voyage) > before + 45, PATIENCE_MS);
  process.kill(pid, "SIGCONT");
  const running = await voyage.view(runId);
  writeFileSync(join(voyage.project, "gate"), "");
  const { worker, attempts } = await voyage.untilStatus(runId, RunStatus.COMPLETED);
  expect(worker?.workerId).toBe(running.worker?.workerId);
  expect(attempts).toHaveLength(1);
  await voyage.expectSound(runId);
});

test.concurrent("a host whose lock was removed gives way to the next, and nothing is done twice", async ({
  onTestFinished: cleanUp,
}) => {
  const voyage = voyageOf(cleanUp);
  const gate = join(voyage.project, "gate");
  const runId = await startRun(voyage, "start", "travels", { lingersFor: [gate] });
  await vi.waitUntil(() => existsSync(join(voyage.project, "effects")), PATIENCE_MS);
  const first = await voyage.host();
  // A name of its socket that no other host ever takes.
  const socketPath = join(voyage.project, "first.sock");
  linkSync(first.paths.socket, socketPath);
  rmSync(first.paths.lock);
  // It lives on for some seconds beside this one, until it has a look at its files.
  const folder = voyage.state;
  const next = await startRealHost({ cleanUp, folder, env: { PI_WORKFLOWS_SPARES: "0" } });
  const link = openHostLink({ socketPath });
  cleanUp(() => link.close());
  const runs = createClient(RunService, link.transport);
  const late = runs.pauseRun({ command: { requestId: "late", client: "test" }, runId });
  const refusal = await late.then(String, (error: unknown) => error);
  expect(isHostGone(refusal)).toBe(true);
  voyage.goOnWith(next);
  writeFileSync(gate, "");
  expect(await first.exited).toMatchObject({ code: 74 });
  const view = await voyage.untilStatus(runId, RunStatus.WAITING);
  expect(voyage.effects(runId)).toEqual({ "line:write:1": 2, "stamp:stamp:1": 1 });
  expect(view.worker?.generation).toBeGreaterThan(1);
  expect((await next.host.getStatus({})).epoch).toBe(2n);
  await voyage.expectSound(runId);
});

describe.concurrent("a key", () => {
  test.for([20, 200])(
    "given %i times at once makes one run",
    async (count, { onTestFinished: cleanUp }) => {
      const voyage = voyageOf(cleanUp);
      const { runs } = await voyage.host();
      const request = {
        command: { requestId: "one", client: "test" },
        workflow: workflowFile("exits"),
        projectDir: voyage.project,
        input: toValue("input", { how: "exit" }),
      };
      const calls = Array.from({ length: count }, () => runs.startRun(request));
      const receipts = (await Promise.all(calls)).map(({ receipt }) => receipt);
      expect(new Set(receipts.map((receipt) => receipt?.runId)).size).toBe(1);
      const fresh = receipts.filter((receipt) => receipt?.outcome === Outcome.COMMITTED);
      expect(fresh).toHaveLength(1);
      expect((await runs.listRuns({})).runs).toHaveLength(1);
      await voyage.untilStatus(receipts[0]?.runId ?? "", RunStatus.COMPLETED);
    },
  );

  test("given with other content is refused, also after a restart and when the run has ended", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = voyageOf(cleanUp);
    const runId = await startRun(voyage, "start", "exits", { how: "exit" });
    await voyage.untilStatus(runId, RunStatus.COMPLETED);
    await voyage.leave("kill");
    const other = startRun(voyage, "start", "exits", { how: "rejection" });
    const refusal = await other.then(String, (error: unknown) => error);
    expect(isRejectedFor(refusal, Reason.IDEMPOTENCY_CONFLICT)).toBe(true);
  });
});

test.concurrent("twenty who resume one paused run at once start it once", async ({
  onTestFinished: cleanUp,
}) => {
  const voyage = voyageOf(cleanUp);
  const gate = join(voyage.project, "gate");
  const runId = await startRun(voyage, "start", "travels", { holdsFor: gate });
  await voyage.untilStatus(runId, RunStatus.RUNNING);
  await voyage.command("pause", ({ runs }, command) => runs.pauseRun({ command, runId }));
  const { runs } = await voyage.host();
  const resumes = Array.from({ length: 20 }, (_, index) =>
    runs.resumeRun({ command: { requestId: `resume ${index}`, client: "test" }, runId }),
  );
  const settled = await Promise.allSettled(resumes);
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const refused = settled.filter(
    (one) => one.status === "rejected" && isRejectedFor(one.reason, Reason.ILLEGAL_TRANSITION),
  );
  expect(refused).toHaveLength(19);
  writeFileSync(gate, "");
  const { attempts } = await voyage.untilStatus(runId, RunStatus.WAITING);
  expect(attempts.filter(({ node }) => node === "plan")).toHaveLength(2);
  expect(voyage.effects(runId)).toEqual({ "line:write:1": 1, "stamp:stamp:1": 1 });
  await voyage.expectSound(runId);
});

test.concurrent("what resume acknowledged still holds when the host is killed right after", async ({
  onTestFinished: cleanUp,
}) => {
  const voyage = voyageOf(cleanUp);
  const runId = await startRun(voyage, "start", "travels");
  await voyage.untilStatus(runId, RunStatus.WAITING);
  await voyage.command("pause", ({ runs }, command) => runs.pauseRun({ command, runId }));
  await voyage.command("resume", ({ runs }, command) => runs.resumeRun({ command, runId }));
  await voyage.leave("kill");
  expect((await voyage.view(runId)).summary?.status).toBe(RunStatus.WAITING);
  await answer(voyage, runId);
  const { result } = await voyage.untilStatus(runId, RunStatus.COMPLETED);
  expect(valueJson(result)).toMatchObject({ answer: "yes" });
});

function voyageOf(cleanUp: CleanUp, env: Readonly<Record<string, string>> = {}): Voyage {
  return new Voyage({ cleanUp, env: () => env });
}

function ticks(voyage: Voyage): number {
  const file = join(voyage.project, "ticks");
  return existsSync(file) ? readFileSync(file, "utf8").length : 0;
}

function resting(voyage: Voyage, forMs: number): string {
  const file = join(voyage.project, "rests.workflow.mjs");
  writeFileSync(
    file,
    'import { defineWorkflow, wait } from "pi-workflows";\n' +
      `export default defineWorkflow({ name: "rests", startAt: "rest", nodes: { rest: wait({ forMs: ${forMs} }) } });\n`,
  );
  return file;
}
