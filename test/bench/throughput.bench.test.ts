import { closeSync, fdatasyncSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { advance, attachWorker } from "../../src/host/operations/attempts.ts";
import { launchRun } from "../../src/host/operations/claims.ts";
import { admitRun } from "../../src/host/operations/runs.ts";
import type { GraphRecord } from "../../src/host/records.ts";
import { newId, newSecret, sha256Hex } from "../../src/platform/ids.ts";
import { startRealHost } from "../support/real-host.ts";
import { admission } from "../support/test-host.ts";
import { openTestHost } from "../support/test-store.ts";
import {
  marksIn,
  newFolder,
  newProject,
  startRun,
  until,
  untilMarked,
  untilRested,
} from "./bench-host.ts";
import type { Mark } from "./bench-host.ts";
import { ms, report } from "./report.ts";
import { median } from "./statistics.ts";

/** Of a new host and a new worker: their code is being read and compiled. */
const EARLY = { from: 200, to: 1_700 };
/**
 * By then V8 has optimised what runs in both processes. Before, its compiler's threads run beside
 * them, and what is not compiled yet needs a third more (docs/decisions/0013).
 */
const STEADY = { from: 6_000, to: 7_500 };
const ROUNDS = 5;
const WORKERS = 32;
const TRANSITIONS_EACH = 60;
/** From here on waiting for the disk outweighs everything else. */
const SLOW_SYNC_MS = 2;

test("transitions of one run, one after the other", async () => {
  const rounds: { readonly inProcess: Rates; readonly real: Rates }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({ inProcess: await inProcessRates(), real: await oneWorkerRates() });
  }
  // Of each round by itself: what both meet in it, a busy disk or a busy machine, cancels out.
  const ratio = (when: keyof Rates): number =>
    median(rounds.map(({ inProcess, real }) => real[when] / inProcess[when]));
  const real = median(rounds.map((round) => round.real.steady));
  const inProcess = median(rounds.map((round) => round.inProcess.steady));
  const line = report({
    measure: "sequential durable transitions of one run, of those in one process",
    value: ratio("steady"),
    unit: "x",
    bound: { is: "at least", value: 0.45 },
    reference:
      `${real.toFixed(0)}/s against ${inProcess.toFixed(0)}/s in one process; ` +
      `before the code is compiled ${ratio("early").toFixed(2)} x`,
  });
  expect(line).toMatchObject({ reached: true });
});

test(`transitions of ${WORKERS} runs at the same time`, async () => {
  const syncMs = syncTime();
  const single: number[] = [];
  const grouped: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    single.push(await manyWorkersPerSecond({ PI_WORKFLOWS_COMMIT_WRITES: "1" }));
    grouped.push(await manyWorkersPerSecond({}));
  }
  const line = report({
    measure: `group commit with ${WORKERS} workers, against one write per COMMIT`,
    value: median(grouped) / median(single),
    unit: "x",
    bound: { is: "at least", value: syncMs >= SLOW_SYNC_MS ? 3 : 1.3 },
    reference:
      `${median(grouped).toFixed(0)}/s against ${median(single).toFixed(0)}/s; ` +
      `fdatasync ${ms(syncMs)}`,
  });
  expect(line).toMatchObject({ reached: true });
});

/** Transitions a second. */
interface Rates {
  readonly early: number;
  readonly steady: number;
}

async function oneWorkerRates(): Promise<Rates> {
  const host = await startRealHost();
  const folder = newFolder();
  const [file, barrier] = [join(folder, "marks"), join(folder, "barrier")];
  const between = [EARLY.to, STEADY.from];
  const input = { file, from: EARLY.from, to: STEADY.to, between, barrier };
  await startRun(host, { projectDir: newProject(), workflow: "counts", input });
  await untilMarked(file, "ready");
  // Spares are made ready beside a run that was just begun, and would be measured with it.
  await untilRested(host, true, 1);
  writeFileSync(barrier, "");
  const ended = await untilMarked(file, "to");
  const at = async (what: string): Promise<number> => (await untilMarked(file, what)).atMs;
  const early = rate(EARLY, await at("from"), await at(`at ${EARLY.to}`));
  const steady = rate(STEADY, await at(`at ${STEADY.from}`), ended.atMs);
  await host.stop();
  return { early, steady };
}

function rate({ from, to }: typeof EARLY, beganMs: number, endedMs: number): number {
  return ((to - from) * 1_000) / (endedMs - beganMs);
}

const COUNT: GraphRecord = {
  name: "counts",
  startAt: "count",
  maxSteps: 1_000_000,
  nodes: [
    { path: "count", kind: "compute" },
    { path: "done", kind: "compute" },
  ],
  edges: [
    {
      from: "count",
      on: "$.more",
      cases: [
        { value: "true", to: "count" },
        { value: "false", to: "done" },
      ],
    },
  ],
};

/** The very operation that the host performs, on a database of the same kind. */
async function inProcessRates(): Promise<Rates> {
  const { host, store } = openTestHost({ synchronous: "FULL" });
  const command = { requestId: "bench", key: "bench", client: "bench" };
  const asked = { command, method: "StartRun", fingerprint: sha256Hex("bench") };
  const { runId = "" } = await admitRun(host, asked, { ...admission(), graph: COUNT });
  const worker = { workerId: newId("wrk"), pid: process.pid, startTime: "1", bootId: "boot" };
  const tokenHash = sha256Hex(newSecret());
  const { generation } = await launchRun(host, { runId, worker, tokenHash });
  const proof = { runId, workerId: worker.workerId, generation, tokenHash };
  let { attemptId, boundary } = await attachWorker(host, proof, 1, { newSources: [] });
  const reached: number[] = [];
  for (let count = 0; count <= STEADY.to; count += 1) {
    reached.push(performance.now());
    const ack = await advance(host, proof, count + 2, {
      expectedBoundary: boundary,
      attemptId,
      newSources: [],
      result: { outcome: "ok", outputJson: '{"more":true}' },
      follow: { kind: "next", node: "count", retry: false, timeoutMs: 900_000 },
    });
    ({ attemptId = "", boundary } = ack);
  }
  store.close();
  const of = (window: typeof EARLY): number =>
    rate(window, reached[window.from] ?? 0, reached[window.to] ?? 0);
  return { early: of(EARLY), steady: of(STEADY) };
}

async function manyWorkersPerSecond(env: Readonly<Record<string, string>>): Promise<number> {
  const host = await startRealHost({
    env: { PI_WORKFLOWS_CAPACITY: `${WORKERS}`, ...env },
  });
  const folder = newFolder();
  const projectDir = newProject();
  const files = Array.from({ length: WORKERS }, (_, index) => join(folder, `marks${index}`));
  const barrier = join(folder, "barrier");
  for (const file of files) {
    const input = { file, from: 2, to: 2 + TRANSITIONS_EACH, barrier };
    await startRun(host, { projectDir, workflow: "counts", input });
  }
  await Promise.all(files.map((file) => untilMarked(file, "ready")));
  writeFileSync(barrier, "");
  const marks = (what: string): readonly Mark[] =>
    files.flatMap((file) => marksIn(file).filter((mark) => mark.what === what));
  await until(() => marks("to").length === WORKERS);
  const began = Math.min(...marks("from").map(({ atMs }) => atMs));
  const ended = Math.max(...marks("to").map(({ atMs }) => atMs));
  await host.kill();
  expect(marks("from")).toHaveLength(WORKERS);
  return (WORKERS * TRANSITIONS_EACH * 1_000) / (ended - began);
}

/** What one COMMIT waits for on this disk. */
function syncTime(): number {
  const file = openSync(join(newFolder(), "sync"), "w");
  const page = Buffer.alloc(4_096, 1);
  const times = Array.from({ length: 100 }, (_, index) => {
    const began = performance.now();
    writeSync(file, page, 0, page.length, index * page.length);
    fdatasyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  return median(times);
}
