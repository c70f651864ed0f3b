/** What a headless run's Pi is started with: its model, its extensions, what it may and what not. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { submits } from "../support/pi/bridge-rig.ts";
import {
  newHeadless,
  noPi,
  pis,
  starts,
  startRun,
  TWO_STEPS,
  worksWell,
} from "../support/pi/headless-rig.ts";
import { until } from "../support/pi/until.ts";

const PACKAGE = join(import.meta.dirname, "../..");
const RIG = join(import.meta.dirname, "../fixtures/pi-extensions/rig.ts");

test("a step may have another model than the one before, and its own arguments", async () => {
  const bridge = await newHeadless();
  const models = ["scripted", "other"].map((id) => ({
    id,
    input: ["text"],
    contextWindow: 200_000,
    maxTokens: 8_192,
  }));
  const mock = { baseUrl: bridge.model.baseUrl, api: "openai-completions", apiKey: "x", models };
  const file = join(bridge.profile.agentDir, "models.json");
  writeFileSync(file, JSON.stringify({ providers: { mock } }));
  const path = bridge.workflow(
    "two",
    TWO_STEPS.replace('expectedOutput: "a text"', '$&, model: "mock/other"'),
  );
  worksWell(bridge);
  const runId = await startRun(bridge, path);
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  const used = (text: string): unknown =>
    bridge.model.requests.find(({ lastUserText }) => lastUserText.includes(text))?.body["model"];
  expect(used("Write a draft.")).toBe("other");
  expect(used("Sign: a draft")).toBe("scripted");
  expect(starts(bridge)).toBe(2);
});

test("a package that Pi loads by itself is not loaded twice", async () => {
  const bridge = await newHeadless({ settings: { packages: [PACKAGE] } });
  worksWell(bridge);
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  await noPi(bridge);
  expect(starts(bridge)).toBe(1);
});

test("another copy that Pi loads by itself serves in place of the host's own", async () => {
  const bridge = await newHeadless({ settings: { packages: ["../copy"] } });
  const copy = join(bridge.profile.folder, "copy");
  for (const part of ["package.json", "dist/extension", "skills"]) {
    cpSync(join(PACKAGE, part), join(copy, part), { recursive: true });
  }
  worksWell(bridge);
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  await until(() => pis(bridge)[0], { what: () => "a Pi", timeoutMs: 60_000 });
  expect(pis(bridge)[0]?.command).not.toContain(" -e ");
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  expect(starts(bridge)).toBe(1);
});

test("a step cannot start another run", async () => {
  const bridge = await newHeadless();
  const path = bridge.workflow("two", TWO_STEPS);
  const done = submits("a draft");
  bridge.onStep((step) => {
    if (step.text.includes("Sign: a draft")) return "signed";
    const args = { action: "start", workflow: path };
    if (step.answersSince === 0) return { tool: "workflow", args };
    return step.answersSince === 1 ? done({ ...step, last: { ...step.last, role: "x" } }) : "Done.";
  });
  const runId = await startRun(bridge, path);
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  expect(await bridge.runs()).toHaveLength(1);
  const refused = bridge.model.requests.find(({ answersSince }) => answersSince === 1);
  expect(refused?.last).toMatchObject({ role: "tool" });
  expect(refused?.last.text).toContain(runId);
});

test("a question to a user is answered with cancel, for there is none", async () => {
  const bridge = await newHeadless();
  const done = submits("a draft");
  bridge.onStep((step) => {
    if (step.text.includes("Sign: a draft")) return "signed";
    if (step.answersSince === 0) return { tool: "rig_ask", args: { question: "Where?" } };
    return done({ ...step, last: { ...step.last, role: isAsked(step.last.text) ? "x" : "tool" } });
  });
  const path = bridge.workflow("two", TWO_STEPS);
  const runId = await startRun(bridge, path, "--pi-arg=-e", `--pi-arg=${RIG}`);
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  expect(bridge.model.requests.some(({ last }) => isAsked(last.text))).toBe(true);
});

function isAsked(text: string): boolean {
  return text === "chosen: undefined";
}

test("a project that nobody trusts stays so", async () => {
  const bridge = await newHeadless();
  const own = join(bridge.profile.project, ".pi", "extensions");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "loud.ts"), 'throw new Error("loaded without trust");\n');
  worksWell(bridge);
  const path = bridge.workflow("two", TWO_STEPS);
  const runId = await startRun(bridge, path);
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  const asking = await startRun(bridge, path, "--pi-arg=--approve");
  await bridge.reaches(asking, RunStatus.FAILED);
  expect((await bridge.cli("show", asking, "--json")).stdout).toContain("--approve");
});
