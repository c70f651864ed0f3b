import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";
import { newFolder, newProject, startRun, until, untilMarked } from "./bench-host.ts";
import { ms, report } from "./report.ts";
import { quantile } from "./statistics.ts";

const BLOCK_MS = 60_000;
const OTHERS = 3;
/** A node of the others takes so long. */
const PAUSE_MS = 20;
/** Long enough for a p99, short enough to be done before the loop turns again. */
const STEPS = 900;

test("a loop that stands still for a minute beside three other runs", async () => {
  const host = await startRealHost();
  const projectDir = newProject();
  const before = await transitionTimes(host, projectDir);
  const file = join(newFolder(), "marks");
  const input = { file, blockMs: BLOCK_MS };
  const runId = await startRun(host, { projectDir, workflow: "blocks", input });
  const { atMs: from } = await untilMarked(file, "from");
  const beside = await transitionTimes(host, projectDir);
  const { atMs: to } = await untilMarked(file, "to");
  const after = await transitionTimes(host, projectDir);
  expect(to - from).toBeGreaterThanOrEqual(BLOCK_MS - 1);
  const kinds = await until(async () => {
    const { events, terminal } = await host.runs.listEvents({ runId });
    return terminal ? events.map(({ kind }) => kind) : undefined;
  });
  // One claim from the launch to the end.
  expect(kinds).toEqual(["admit", "launch", "attach", "finish"]);
  const undisturbed = quantile([...before, ...after], 0.99);
  const disturbed = quantile(beside, 0.99);
  const line = report({
    measure: "p99 transition beside a loop blocked for 60 s, of undisturbed; no claim lost",
    value: disturbed / undisturbed,
    unit: "x",
    bound: { is: "at most", value: 2 },
    reference:
      `p99 ${ms(disturbed)} against ${ms(undisturbed)}, ` +
      `p50 ${ms(quantile(beside, 0.5))} against ${ms(quantile([...before, ...after], 0.5))}`,
  });
  expect(line).toMatchObject({ reached: true });
});

/** Milliseconds from the end of a node to the begin of the next one, in runs beside each other. */
async function transitionTimes(host: RealHost, projectDir: string): Promise<readonly number[]> {
  const folder = newFolder();
  const files = Array.from({ length: OTHERS }, (_, index) => join(folder, `${index}`));
  for (const file of files) {
    const input = { file, steps: STEPS, pauseMs: PAUSE_MS };
    await startRun(host, { projectDir, workflow: "paces", input });
  }
  await until(() => files.every((file) => existsSync(file)));
  return files.flatMap((file) => JSON.parse(readFileSync(file, "utf8")) as readonly number[]);
}
