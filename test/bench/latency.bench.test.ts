import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";
import {
  bareNodeMs,
  clockMs,
  newCommand,
  newFolder,
  newProject,
  startRun,
  until,
  untilMarked,
  untilRested,
} from "./bench-host.ts";
import { ms, report } from "./report.ts";
import { summarise } from "./statistics.ts";

const SAMPLES = 15;

/** Takes samples in turn with starts of a Node that does nothing, and reports both. */
async function latency(
  measure: string,
  atMostMs: number,
  sample: (round: number) => Promise<number>,
): Promise<readonly number[]> {
  const samples: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < SAMPLES; round += 1) {
    samples.push(await sample(round));
    bare.push(await bareNodeMs());
  }
  const { min, p50, p99 } = summarise(samples);
  const node = summarise(bare);
  report({
    measure: `${measure}, p50 of ${SAMPLES}`,
    value: p50,
    unit: "ms",
    bound: { is: "at most", value: atMostMs },
    reference: `min ${ms(min)}, max ${ms(p99)}; bare node p50 ${ms(node.p50)}, min ${ms(node.min)}`,
  });
  return samples;
}

async function startToFirstNode(host: RealHost, projectDir: string, file: string): Promise<number> {
  const began = clockMs();
  await startRun(host, { projectDir, workflow: "begins", input: { file } });
  return (await untilMarked(file, "begun")).atMs - began;
}

test("a start of a file never used before", async () => {
  const host = await startRealHost();
  const marks = newFolder();
  await untilRested(host, false);
  const samples = await latency(
    "start to first node, first use of 3 local modules",
    120,
    async (round) => {
      const took = await startToFirstNode(host, newProject(), join(marks, `${round}`));
      await untilRested(host);
      return took;
    },
  );
  expect(samples).toHaveLength(SAMPLES);
});

test("a start of a file used a moment ago", async () => {
  const host = await startRealHost();
  const marks = newFolder();
  const projectDir = newProject();
  await startToFirstNode(host, projectDir, join(marks, "before"));
  await untilRested(host);
  const samples = await latency("start to first node, preloaded", 20, async (round) => {
    const took = await startToFirstNode(host, projectDir, join(marks, `${round}`));
    await untilRested(host);
    return took;
  });
  expect(samples).toHaveLength(SAMPLES);
});

test("an answer of a checkpoint", async () => {
  const host = await startRealHost();
  const marks = newFolder();
  const projectDir = newProject();
  const samples = await latency("answer to next node, preloaded", 20, async (round) => {
    const file = join(marks, `${round}`);
    const runId = await startRun(host, { projectDir, workflow: "asks", input: { file } });
    const interactionId = await until(async () => {
      const { run } = await host.runs.getRun({ runId });
      return run?.interaction?.interactionId;
    });
    await untilRested(host);
    const began = clockMs();
    await host.interactions.answerCheckpoint({
      command: newCommand(),
      interactionId,
      answer: fromJson(ValueSchema, { ok: true }),
    });
    return (await untilMarked(file, "next")).atMs - began;
  });
  expect(samples).toHaveLength(SAMPLES);
});

test("a worker killed in its tenth node of twenty", async () => {
  const host = await startRealHost();
  const marks = newFolder();
  const projectDir = newProject();
  const samples = await latency("kill -9 in node 10 of 20 to node 10 again", 150, async (round) => {
    const file = join(marks, `${round}`);
    await startRun(host, { projectDir, workflow: "chains", input: { file } });
    const { what } = await untilMarked(file, "attempt 1");
    await until(async () => {
      const { workers } = await host.host.getStatus({});
      return workers.some(({ state }) => state === "preloaded");
    });
    const began = clockMs();
    process.kill(Number(what.split(" ").at(-1)), "SIGKILL");
    const took = (await untilMarked(file, "attempt 2")).atMs - began;
    await untilRested(host);
    return took;
  });
  expect(samples).toHaveLength(SAMPLES);
});
