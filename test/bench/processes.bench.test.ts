import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "../support/cli-process.ts";
import { startRealHost } from "../support/real-host.ts";
import {
  bareNodeMs,
  clockMs,
  newFolder,
  newProject,
  startRun,
  until,
  untilMarked,
  untilRested,
} from "./bench-host.ts";
import { ms, report } from "./report.ts";
import { median, summarise } from "./statistics.ts";

const SAMPLES = 15;
const STARTS = 8;

test("show, from the shell to its exit", async () => {
  const host = await startRealHost();
  const file = join(newFolder(), "marks");
  const runId = await startRun(host, {
    projectDir: newProject(),
    workflow: "begins",
    input: { file },
  });
  await untilRested(host);
  const show: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < SAMPLES; round += 1) {
    const began = clockMs();
    const { code } = await runCli({ paths: host.paths }, "show", runId);
    show.push(clockMs() - began);
    bare.push(await bareNodeMs());
    expect(code).toBe(0);
  }
  const line = report({
    measure: "show from shell to exit, of bare node",
    value: median(show) / median(bare),
    unit: "x",
    bound: { is: "at most", value: 4 },
    reference: `${ms(median(show))} against ${ms(median(bare))}; min ${ms(Math.min(...show))}`,
  });
  expect(line).toMatchObject({ reached: true });
});

test("a host's start and stop", async () => {
  const ready: number[] = [];
  const stop: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    const began = clockMs();
    const host = await startRealHost();
    ready.push(clockMs() - began);
    await serve(host);
    const asked = clockMs();
    await host.stop();
    stop.push(clockMs() - asked);
    bare.push(await bareNodeMs());
  }
  const node = summarise(bare);
  const common = `of ${STARTS}; bare node p50 ${ms(node.p50)}`;
  const started = summarise(ready);
  report({
    measure: "host ready after spawn, p50",
    value: started.p50,
    unit: "ms",
    bound: { is: "at most", value: 400 },
    reference: `min ${ms(started.min)}, max ${ms(started.p99)} ${common}`,
  });
  const stopped = summarise(stop);
  report({
    measure: "host stop with open streams, p50",
    value: stopped.p50,
    unit: "ms",
    bound: { is: "at most", value: 300 },
    reference: `min ${ms(stopped.min)}, max ${ms(stopped.p99)} ${common}`,
  });
  expect(stop).toHaveLength(STARTS);
});

/** Somebody watches all runs and one that executes. */
async function serve(host: Awaited<ReturnType<typeof startRealHost>>): Promise<void> {
  const file = join(newFolder(), "marks");
  const projectDir = newProject();
  const runId = await startRun(host, { projectDir, workflow: "chains", input: { file } });
  await untilMarked(file, "attempt 1");
  void drain(host.runs.watchRun({ runId }));
  void drain(host.runs.watchRuns({}));
  void drain(host.runs.readRunLog({ runId, follow: true }));
  await until(async () => (await host.host.getStatus({})).attachedStreams >= 3);
}

/** Takes what a stream brings until it ends, however it does. */
async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of stream);
  } catch {
    // The host has ended.
  }
}
