import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/host/store/store.ts";
import type { Tx } from "../../src/host/store/tx.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { statePaths } from "../../src/platform/state-folder.ts";
import { memoryLog } from "../support/memory-log.ts";
import { newStateFolder, startRealHost } from "../support/real-host.ts";
import { attemptRecord, eventRecord, interactionRecord, putRun } from "../support/records.ts";
import {
  bareNodeMs,
  clockMs,
  residentMb,
  startRun,
  newFolder,
  newProject,
  until,
  untilMarked,
  untilRested,
} from "./bench-host.ts";
import { ms, report } from "./report.ts";
import { median, summarise } from "./statistics.ts";

const RUNS = 10_000;
const EVENTS_PER_RUN = 100;
const RUNS_PER_WRITE = 100;
const STARTS = 5;
const MEMORY_SAMPLES = 20;

test(`a host of ${RUNS} parked runs`, async () => {
  const idleMb = await idleMemory();
  const folder = newStateFolder();
  await park(folder);
  const starts: number[] = [];
  const pages: number[] = [];
  const memory: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    const began = clockMs();
    const host = await startRealHost({ folder });
    starts.push(clockMs() - began);
    const asked = clockMs();
    const { runs } = await host.runs.listRuns({});
    pages.push(clockMs() - asked);
    expect(runs.length).toBeGreaterThan(0);
    await untilRested(host, false);
    memory.push(residentMb(host.pid) - idleMb);
    await host.stop();
  }
  const node = await bareNodeMs();
  const events = `${RUNS} waiting runs, ${RUNS * EVENTS_PER_RUN} events`;
  const start = summarise(starts);
  report({
    measure: `host start with ${events}`,
    value: start.p50,
    unit: "ms",
    bound: { is: "at most", value: 1_000 },
    reference: `min ${ms(start.min)} of ${STARTS}; bare node ${ms(node)}`,
  });
  const page = summarise(pages);
  report({
    measure: "first page of the list of them",
    value: page.p50,
    unit: "ms",
    bound: { is: "at most", value: 100 },
    reference: `min ${ms(page.min)} of ${STARTS}, first call of a new connection`,
  });
  report({
    measure: `host memory with ${RUNS} waiting runs, beyond idle`,
    value: median(memory),
    unit: "MB",
    bound: { is: "at most", value: 60 },
    reference: `idle ${idleMb.toFixed(0)} MB RSS`,
  });
});

test("a host whose children print as fast as they can", async () => {
  const host = await startRealHost();
  const folder = newFolder();
  const enough = join(folder, "enough");
  const projectDir = newProject();
  await untilRested(host, false);
  const idleMb = residentMb(host.pid);
  const files = [1, 2, 3, 4].map((number) => join(folder, `marks${number}`));
  for (const file of files) {
    await startRun(host, { projectDir, workflow: "floods", input: { file, enough } });
  }
  await Promise.all(files.map((file) => untilMarked(file, "from")));
  const began = clockMs();
  let peakMb = 0;
  await until(() => {
    peakMb = Math.max(peakMb, residentMb(host.pid));
    return clockMs() - began > 10_000;
  });
  report({
    measure: "host memory while 4 children flood stdout, beyond idle",
    value: peakMb - idleMb,
    unit: "MB",
    bound: { is: "at most", value: 40 },
    reference: `idle ${idleMb.toFixed(0)} MB RSS, peak of 10 s ${peakMb.toFixed(0)} MB`,
  });
  await host.kill();
  expect(peakMb).toBeGreaterThan(idleMb);
});

/** A host that has served a run and has nothing to do. */
async function idleMemory(): Promise<number> {
  const host = await startRealHost();
  const file = join(newFolder(), "marks");
  await startRun(host, { projectDir: newProject(), workflow: "begins", input: { file } });
  await untilMarked(file, "begun");
  await untilRested(host);
  const samples: number[] = [];
  await until(() => samples.push(residentMb(host.pid)) >= MEMORY_SAMPLES);
  await host.stop();
  const idle = median(samples);
  report({
    measure: "host memory idle",
    value: idle,
    unit: "MB",
    bound: { is: "at most", value: 100 },
    reference: "RSS, median of 20; a run was served before",
  });
  return idle;
}

/** What as many runs leave behind that wait for an answer. */
async function park(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { log } = memoryLog();
  const path = statePaths({ ...process.env, PI_WORKFLOWS_HOME: folder }).database;
  const store = openStore({
    path,
    log,
    clock: systemClock,
    onFatal: (error) => {
      throw error;
    },
    synchronous: "NORMAL",
  });
  for (let done = 0; done < RUNS; done += RUNS_PER_WRITE) {
    await store.write("admit", (tx) => {
      for (let count = 0; count < RUNS_PER_WRITE; count += 1) parkOne(tx);
    });
  }
  store.close();
}

function parkOne(tx: Tx): void {
  const now = Date.now();
  const { runId } = putRun(tx, {
    status: "waiting",
    revision: EVENTS_PER_RUN,
    generation: 1,
    createdAt: now,
    updatedAt: now,
  });
  const attempt = attemptRecord(runId, { status: "waiting" });
  tx.put.attempt(attempt);
  tx.put.interaction(interactionRecord(attempt));
  for (let revision = 2; revision <= EVENTS_PER_RUN; revision += 1) {
    const data = { attemptId: attempt.attemptId, outcome: "ok", to: "draft", visit: revision };
    tx.put.event(eventRecord(runId, { revision, kind: "advance", at: now, node: "draft", data }));
  }
}
