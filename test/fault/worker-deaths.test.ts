// Author code runs in a process that may end, freeze, or hold its loop in every way there is. None of
// it may harm the host, another run, or what the run has committed.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { valueJson } from "../../src/client/json-value.ts";
import { AttemptStatus } from "../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { BlockReason, RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { RunView } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { stateOf } from "../../src/platform/process-identity.ts";
import { startRun } from "../support/journeys.ts";
import { PATIENCE_MS, Voyage } from "../support/voyage.ts";
import type { CleanUp } from "../support/real-host.ts";

/** The shortest lease there is: three seconds of lease time. */
const SHORT_LEASE = { PI_WORKFLOWS_CLAIM_MS: "3000", PI_WORKFLOWS_RENEW_MS: "1000" };

describe.concurrent("author code that ends its process fails its attempt by", () => {
  const cases = [
    { how: "exit", name: "ProcessExit", says: /process\.exit\(3\)/ },
    { how: "rejection", name: "UnhandledRejection", says: /nobody waits for this/ },
    { how: "exception", name: "UncaughtException", says: /thrown where nobody catches/ },
    { how: "memory", name: "OutOfMemory", says: /memory/ },
  ];
  test.for(cases)(
    "$how, which says so and is routed",
    async ({ how, name, says }, { onTestFinished: cleanUp }) => {
      const voyage = journeyOf(cleanUp, { PI_WORKFLOWS_WORKER_MEMORY_MB: "512" });
      const { pid } = await voyage.host();
      const runId = await startRun(voyage, "start", "exits", { how });
      const view = await voyage.untilStatus(runId, RunStatus.COMPLETED);
      expect(valueJson(view.result)).toEqual({ outcome: "failed", error: name });
      const failed = view.attempts.find(({ status }) => status === AttemptStatus.FAILED);
      expect(failed?.error?.message).toMatch(says);
      await voyage.expectSound(runId);
      expect((await voyage.host()).pid).toBe(pid);
    },
  );
});

const EXIT_CALLED = "author code called process.exit(0); return a value or throw an error instead";

describe.concurrent("a node that returns and has its process exit in", () => {
  const cases = [
    { how: "a microtask", bytes: 10 },
    { how: "the next tick", bytes: 6_000_000 },
    { how: "an immediate", bytes: 10 },
    { how: "a timer", bytes: 6_000_000 },
  ];
  test.for(cases)(
    "$how has its $bytes bytes taken whole, or fails by name",
    async ({ how, bytes }, { onTestFinished: cleanUp }) => {
      const voyage = journeyOf(cleanUp);
      const runId = await startRun(voyage, "start", "leaves", { how, bytes });
      const ended = await voyage.until(runId, ({ summary }) => summary?.finishedAt !== undefined);
      const { attempts, result, summary, error } = ended;
      const left = attempts.filter(({ node }) => node === "leave");
      expect(left).toHaveLength(1);
      const taken = { outcome: "ok", bytes, error: null };
      const failed = { outcome: "failed", bytes: null, error: "ProcessExit" };
      const expected = left[0]?.status === AttemptStatus.OK ? taken : failed;
      // An exit that comes when the successor has begun may be taken for its own.
      const seen = summary?.status === RunStatus.FAILED ? error?.message : valueJson(result);
      expect([expected, EXIT_CALLED]).toContainEqual(seen);
      await voyage.expectSound(runId);
    },
  );
});

test.concurrent("a worker that dies three times blocks its run, with the end of what it printed", async ({
  onTestFinished: cleanUp,
}) => {
  const voyage = journeyOf(cleanUp);
  const runId = await startRun(voyage, "start", "dies");
  const { summary, attempts } = await voyage.untilStatus(runId, RunStatus.BLOCKED);
  expect(summary?.blockReason).toBe(BlockReason.NO_PROGRESS);
  expect(summary?.detail).toContain("attempt 3: the card is on fire");
  expect(attempts.map(({ status }) => status)).toEqual(Array(3).fill(AttemptStatus.INTERRUPTED));
  await voyage.expectSound(runId);
});

test.concurrent("a worker stopped for longer than its lease is ended, and another takes over", async ({
  onTestFinished: cleanUp,
}) => {
  const voyage = journeyOf(cleanUp, SHORT_LEASE);
  const gate = join(voyage.project, "gate");
  const runId = await startRun(voyage, "start", "travels", { holdsFor: gate });
  const { worker, attempts } = await executing(voyage, runId, "plan");
  process.kill(worker?.pid ?? 0, "SIGSTOP");
  const next = await voyage.until(runId, (run) => run.attempts.length > attempts.length);
  expect(stateOf(worker?.pid ?? 0)).toBeUndefined();
  writeFileSync(gate, "");
  const ended = await voyage.untilStatus(runId, RunStatus.WAITING);
  expect(ended.worker?.generation).toBeGreaterThan(worker?.generation ?? 0);
  expect(next.attempts[0]?.error?.message).toContain("its claim ran out");
  expect(voyage.effects(runId)).toEqual({ "line:write:1": 1, "stamp:stamp:1": 1 });
  expect(await kindsOf(voyage, runId)).toContain("interrupt");
  await voyage.expectSound(runId);
});

describe.concurrent("a loop that is held", () => {
  test("for longer than the lease loses no claim, is shown, and gives way to others", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = journeyOf(cleanUp, { ...SHORT_LEASE, PI_WORKFLOWS_LOOP_BLOCKED_MS: "500" });
    const runId = await startRun(voyage, "start", "spins");
    const blocked = await voyage.until(runId, ({ summary }) => summary?.loopBlock !== undefined);
    expect(blocked.summary?.loopBlock?.node).toBe("spin");
    const pid = blocked.worker?.pid ?? 0;
    await vi.waitUntil(() => getPriority(pid) === 19, PATIENCE_MS);
    // Two leases of another run's sleep: it is not held up either.
    const other = await startRun(voyage, "start other", resting(voyage));
    await voyage.untilStatus(other, RunStatus.COMPLETED);
    const { expiredClaims, blockedLoops } = await voyage.ask(({ host }) => host.getStatus({}));
    expect(expiredClaims).toBe(0);
    expect(blockedLoops.map((run) => run.runId)).toEqual([runId]);
    expect(Number(blockedLoops[0]?.loopBlock?.cpuTime?.nanos)).toBeGreaterThan(0);
    writeFileSync(join(voyage.project, "gate"), "");
    const { result, worker } = await voyage.untilStatus(runId, RunStatus.COMPLETED);
    expect(valueJson(result)).toEqual({ outcome: "ok", attempt: 1, error: null });
    expect(worker?.generation).toBe(blocked.worker?.generation);
    expect(await kindsOf(voyage, runId)).not.toContain("interrupt");
    await voyage.expectSound(runId);
  });

  test("past its node's deadline is ended as timed out, and routed", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = journeyOf(cleanUp, { PI_WORKFLOWS_VERDICT_GRACE_MS: "100" });
    const runId = await startRun(voyage, "start", "spins", { timeoutMs: 300 });
    const { result, attempts } = await voyage.untilStatus(runId, RunStatus.COMPLETED);
    expect(valueJson(result)).toEqual({
      outcome: "timed_out",
      attempt: null,
      error: "TimeoutError",
    });
    expect(attempts[0]?.error?.message).toContain("its process was ended");
    await voyage.expectSound(runId);
  });

  test("can be cancelled", async ({ onTestFinished: cleanUp }) => {
    const voyage = journeyOf(cleanUp);
    const runId = await startRun(voyage, "start", "spins");
    const pid = await spinning(voyage, runId);
    await voyage.command("cancel", ({ runs }, command) => runs.cancelRun({ command, runId }));
    await vi.waitUntil(() => stateOf(pid) === undefined, PATIENCE_MS);
    expect((await voyage.view(runId)).summary?.status).toBe(RunStatus.CANCELLED);
    await voyage.expectSound(runId);
  });
});

test.concurrent("what a worker proposes after its run was paused changes nothing", async ({
  onTestFinished: cleanUp,
}) => {
  const voyage = journeyOf(cleanUp);
  const runId = await startRun(voyage, "start", "spins");
  await spinning(voyage, runId);
  await voyage.command("pause", ({ runs }, command) => runs.pauseRun({ command, runId }));
  // The held loop goes on and proposes its result before it has heard of the pause.
  writeFileSync(join(voyage.project, "gate"), "");
  await vi.waitUntil(() => lossesOf(voyage), PATIENCE_MS);
  const paused = await voyage.view(runId);
  expect(paused.summary?.status).toBe(RunStatus.PAUSED);
  expect(paused.attempts.map(({ status }) => status)).toEqual([AttemptStatus.INTERRUPTED]);
  await voyage.command("resume", ({ runs }, command) => runs.resumeRun({ command, runId }));
  const { result } = await voyage.untilStatus(runId, RunStatus.COMPLETED);
  expect(valueJson(result)).toEqual({ outcome: "ok", attempt: 2, error: null });
  expect(await kindsOf(voyage, runId)).not.toContain("verdict");
  await voyage.expectSound(runId);
});

function journeyOf(cleanUp: CleanUp, env: Readonly<Record<string, string>> = {}): Voyage {
  return new Voyage({ cleanUp, env: () => env });
}

async function executing(voyage: Voyage, runId: string, node: string): Promise<RunView> {
  return voyage.until(
    runId,
    ({ summary }) => summary?.status === RunStatus.RUNNING && summary.node === node,
  );
}

/** Pid of the worker whose loop is held. */
async function spinning(voyage: Voyage, runId: string): Promise<number> {
  await vi.waitUntil(() => existsSync(join(voyage.project, "spinning")), PATIENCE_MS);
  return (await voyage.view(runId)).worker?.pid ?? 0;
}

async function kindsOf(voyage: Voyage, runId: string): Promise<readonly string[]> {
  return (await voyage.events(runId)).map(({ kind }) => kind);
}

function lossesOf(voyage: Voyage): boolean {
  return readFileSync(join(voyage.state, "host.log"), "utf8").includes('"claim.lost"');
}

/** A run that only waits, and for longer than two leases. */
function resting(voyage: Voyage): string {
  const file = join(voyage.project, "rests.workflow.mjs");
  appendFileSync(
    file,
    'import { defineWorkflow, wait } from "pi-workflows";\n' +
      'export default defineWorkflow({ name: "rests", startAt: "rest", nodes: { rest: wait({ forMs: 7_000 }) } });\n',
  );
  return file;
}
