import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { SourceRecord } from "../../../src/host/records.ts";
import { isSpareCurrent } from "../../../src/host/scheduler/spare-check.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { changedAt } from "../../../src/platform/file-times.ts";
import { FakeWorker } from "../../support/fake-worker.ts";
import { runRecord } from "../../support/records.ts";

const HOUR_MS = 3_600_000;
const WANT = { workflowPath: "/w.workflow.ts", projectDir: "/" };

/** A project whose files changed just now. */
function project(): readonly SourceRecord[] {
  const folder = mkdtempSync(join(tmpdir(), "spare-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const root = join(folder, "node_modules/left");
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "package.json"), "{}");
  writeFileSync(join(folder, "w.workflow.ts"), "export {};");
  return [
    { path: join(folder, "w.workflow.ts"), kind: "file", digest: "d", size: 10 },
    { path: root, kind: "package", size: 0 },
  ];
}

function isCurrent(
  times: { readonly preloaded: number; readonly recorded: number },
  recorded: readonly SourceRecord[],
): boolean {
  const spare = new FakeWorker(systemClock, WANT);
  spare.preloadedAt = Date.now() + times.preloaded;
  const run = runRecord({ createdAt: Date.now() + times.recorded });
  return isSpareCurrent(spare, run, { recorded, changedAt });
}

const LATER = { preloaded: HOUR_MS, recorded: HOUR_MS };

test("a spare is current when nothing changed since it loaded and the run recorded", () => {
  expect(isCurrent(LATER, project())).toBe(true);
});

test.each([
  ["it loaded", { ...LATER, preloaded: -HOUR_MS }],
  ["the run recorded", { ...LATER, recorded: -HOUR_MS }],
])("a spare is not current when a file changed since %s", (_, times) => {
  const [file, installed] = project();
  if (file === undefined || installed === undefined) throw new Error("there is no project");
  expect(isCurrent(times, [file])).toBe(false);
  expect(isCurrent(times, [installed])).toBe(false);
});

test("a spare is not current when a file is gone", () => {
  expect(isCurrent(LATER, [{ path: "/nowhere/w.ts", kind: "file", size: 1 }])).toBe(false);
});

test("a worker that loaded nothing is current for every run", () => {
  const worker = new FakeWorker(systemClock);
  const run = runRecord();
  expect(isSpareCurrent(worker, run, { recorded: project(), changedAt })).toBe(true);
});
