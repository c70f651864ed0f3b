// An environment holds keys to other things. Nodes may use them; nothing of ours may keep them.
// And ours are told to nobody: not in arguments, environments, logs, reports or rows.
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { toValue } from "../../src/cli/values.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { taggedProcesses } from "../../src/platform/process-identity.ts";
import { answer, startRun, workflowFile } from "../support/journeys.ts";
import { PATIENCE_MS, Voyage } from "../support/voyage.ts";

const TOKEN = "sk-test-0123456789abcdef";

test("no value of the environment is in any file of the state folder", async () => {
  const voyage = new Voyage({ cleanUp: onTestFinished, env: () => ({ FAKE_TOKEN: TOKEN }) });
  const runId = await startRun(voyage, "start", "travels", { tells: "FAKE_TOKEN" });
  await answer(voyage, runId);
  await voyage.untilStatus(runId, RunStatus.COMPLETED);
  const failed = await startRun(voyage, "start dies", "dies");
  await voyage.untilStatus(failed, RunStatus.BLOCKED);
  const files = filesBelow(voyage.state);
  const names = files.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["host.db", "host.db-wal", "host.log"]));
  expect(files.filter(({ text }) => text.includes(TOKEN)).map(({ name }) => name)).toEqual([]);
  // The nodes did have it.
  expect(readFileSync(join(voyage.project, "told"), "utf8")).toBe(TOKEN);
});

test("the secrets of workers and terminals are in no argument, environment, log, report or row", async () => {
  const voyage = new Voyage({ cleanUp: onTestFinished });
  const told = await startRun(voyage, "start", "tells");
  await voyage.untilStatus(told, RunStatus.WAITING);
  const gate = join(voyage.project, "gate");
  const held = await startRun(voyage, "start held", "travels", { lingersFor: [gate] });
  await vi.waitUntil(() => voyage.effects(held)["line:write:1"] === 1, { timeout: PATIENCE_MS });
  const key = readFileSync(join(voyage.state, "person.key"), "utf8").trim();
  const digests = new Set([sha256Hex(key), ...claimDigests(voyage.state)]);
  expect(digests.size).toBeGreaterThan(2);
  const files = [...filesBelow(voyage.state), ...filesBelow(voyage.project)];
  expect(files.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["report", "processes", "host.log"]),
  );
  const places = [...files, ...(await processTexts(voyage))];
  const holding = places.filter(({ text }) => secretsIn(text, digests).length > 0);
  // The terminals' key is where terminals find it, and nothing else is anywhere.
  expect(holding.map(({ name }) => name)).toEqual(["person.key"]);
  writeFileSync(gate, "");
});

test("the secret of a headless run's Pi is in that Pi's environment and nowhere else", async () => {
  const voyage = new Voyage({
    cleanUp: onTestFinished,
    env: (_host, { project }) => fakePi(project),
  });
  await voyage.command("start", async ({ runs }, command) =>
    runs.startRun({
      command,
      workflow: workflowFile("muses"),
      projectDir: voyage.project,
      input: toValue("input", null),
      model: { args: ["--fake", "stay"] },
    }),
  );
  const { pid, secret } = await vi.waitUntil(() => startIn(voyage.project), {
    timeout: PATIENCE_MS,
  });
  expect(secret).toHaveLength(43);
  const places = [...filesBelow(voyage.state), ...(await processTexts(voyage))];
  const holding = places.filter(({ text }) => text.includes(secret)).map(({ name }) => name);
  expect(holding).toEqual([`environ of ${pid}`]);
});

interface Text {
  readonly name: string;
  readonly text: string;
}

function filesBelow(folder: string): readonly Text[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => ({
      name,
      text: readFileSync(join(parentPath, name), "latin1"),
    }));
}

/** Arguments and environments of the host and of all that descends from it. */
async function processTexts(voyage: Voyage): Promise<readonly Text[]> {
  const { pid } = await voyage.host();
  const workers = taggedProcesses(sha256Hex(voyage.state).slice(0, 16));
  expect(workers.length).toBeGreaterThan(0);
  return [pid, ...workers.map((worker) => worker.pid)].flatMap((one) =>
    ["cmdline", "environ"].map((file) => ({
      name: `${file} of ${one}`,
      text: readFileSync(`/proc/${one}/${file}`, "latin1"),
    })),
  );
}

/** What the host knows its workers' secrets by. */
function claimDigests(folder: string): readonly string[] {
  const database = new Database(join(folder, "host.db"), { readonly: true });
  try {
    const digests = database.prepare("SELECT token_hash FROM claims").pluck().all();
    return digests.map(String);
  } finally {
    database.close();
  }
}

/** Every word of the text that one of these is the digest of. */
function secretsIn(text: string, digests: ReadonlySet<string>): readonly string[] {
  const words = text.match(/[\w-]{43,}/g) ?? [];
  const cut = words.flatMap((word) =>
    Array.from({ length: word.length - 42 }, (_, at) => word.slice(at, at + 43)),
  );
  return cut.filter((word) => digests.has(sha256Hex(word)));
}

/** A program that the host takes for Pi; it tells a folder of the project how it was started. */
function fakePi(project: string): Record<string, string> {
  const folder = join(project, "pi");
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "pi");
  const script = join(import.meta.dirname, "../fixtures/children/fake-pi.ts");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
  chmodSync(program, 0o755);
  return { FAKE_PI_FOLDER: folder, PI_WORKFLOWS_PI_COMMAND: program };
}

function startIn(project: string): { readonly pid: number; readonly secret: string } | undefined {
  const folder = join(project, "pi");
  const name = readdirSync(folder).find((one) => /^start-\d+\.json$/.test(one));
  if (name === undefined) return undefined;
  const text = readFileSync(join(folder, name), "utf8");
  if (!text.endsWith("}")) return undefined;
  // Written by the fake itself.
  const { pid, env } = JSON.parse(text) as { pid: number; env: Record<string, string> };
  return { pid, secret: env["PI_WORKFLOWS_SESSION_SECRET"] ?? "" };
}
