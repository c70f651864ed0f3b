// An environment holds keys to other things. Nodes may use them; nothing of ours may keep them.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { answer, startRun } from "../support/journeys.ts";
import { Voyage } from "../support/voyage.ts";

const TOKEN = "sk-test-0123456789abcdef";

test("no value of the environment is in any file of the state folder", async () => {
  const voyage = new Voyage({ cleanUp: onTestFinished, env: () => ({ FAKE_TOKEN: TOKEN }) });
  const runId = await startRun(voyage, "start", "travels", { tells: "FAKE_TOKEN" });
  await answer(voyage, runId);
  await voyage.untilStatus(runId, RunStatus.COMPLETED);
  const failed = await startRun(voyage, "start dies", "dies");
  await voyage.untilStatus(failed, RunStatus.BLOCKED);
  const files = readdirSync(voyage.state, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile(),
  );
  const names = files.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["host.db", "host.db-wal", "host.log"]));
  const holding = files.filter(({ parentPath, name }) =>
    readFileSync(join(parentPath, name)).includes(TOKEN),
  );
  expect(holding.map(({ name }) => name)).toEqual([]);
  // The nodes did have it.
  expect(readFileSync(join(voyage.project, "told"), "utf8")).toBe(TOKEN);
});
