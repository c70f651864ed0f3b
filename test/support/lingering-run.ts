/** A run whose effect is being applied until the test lets go of it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { toValue } from "../../src/cli/values.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { runCli } from "./cli-process.ts";
import { workflowFile } from "./journeys.ts";
import type { RealHost } from "./real-host.ts";

const PATIENCE_MS = 60_000;
const WORKFLOW = workflowFile("travels");

export interface LingeringRun {
  readonly runId: string;
  /** Lets the effect end. */
  release(): void;
  /** How often it was applied outside. */
  applied(): number;
}

export async function startLingering({ runs }: RealHost): Promise<LingeringRun> {
  const folder = newFolder();
  const command = { requestId: "start", client: "test" };
  const input = toValue("input", inputOf(folder));
  const request = { command, workflow: WORKFLOW, projectDir: folder, input };
  const { receipt } = await runs.startRun(request);
  return await applying(receipt?.runId ?? "", folder);
}

/** Starts it as a person would; the host may be one that is about to listen. */
export async function startLingeringByCli(paths: StatePaths): Promise<LingeringRun> {
  const folder = newFolder();
  const input = JSON.stringify(inputOf(folder));
  const args = ["start", WORKFLOW, "--input", input, "--detach", "--json"];
  const { code, stdout, stderr } = await runCli({ paths, cwd: folder }, ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [, runId = ""] = /"runId":\s*"(run_\w+)"/.exec(stdout) ?? [];
  return await applying(runId, folder);
}

async function applying(runId: string, folder: string): Promise<LingeringRun> {
  await vi.waitUntil(() => linesOf(folder).length > 0, { timeout: PATIENCE_MS, interval: 10 });
  return {
    runId,
    release: () => {
      if (existsSync(folder)) writeFileSync(gateIn(folder), "");
    },
    applied: () => linesOf(folder).length,
  };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "l-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function inputOf(folder: string): { readonly folder: string; readonly lingersFor: string[] } {
  return { folder, lingersFor: [gateIn(folder)] };
}

function gateIn(folder: string): string {
  return join(folder, "gate");
}

function linesOf(folder: string): readonly string[] {
  const file = join(folder, "effects");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
