import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Graph, GraphEdge } from "../../../src/workflow/graph.ts";
import { SCENES } from "../../fixtures/workflows/wild-scripts.ts";
import { load } from "../../support/loader.ts";
import type { LoadReply } from "../../support/loader.ts";

const ROOT = join(import.meta.dirname, "../../..");
const FOLDER = realpathSync(join(ROOT, "test/fixtures/workflows/wild"));
const PATH = process.env["PATH"];
const FILES = readdirSync(FOLDER).filter((name) => name.includes(".workflow."));

/** Commands that the files run, found in place of the real ones. */
const COMMANDS: Readonly<Record<string, string>> = {
  "bin/git": "echo 'abc first'; echo 'def second'",
  "bin/make": "exit 0",
  "bin/journalctl": "echo 'disk full'",
  // Red twice, then green.
  "bin/npm": 'echo "run" >> runs; echo "1 failed"; test "$(wc -l < runs)" -gt 2',
  "deploy.sh": 'test -n "$DEPLOY_KEY" && echo deployed',
};

const project = { folder: "" };

beforeAll(() => {
  project.folder = realpathSync(mkdtempSync(join(tmpdir(), "wild-")));
  mkdirSync(join(project.folder, "bin"));
  for (const [name, text] of Object.entries(COMMANDS))
    writeFileSync(join(project.folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  // The loading process, and with it what its nodes run, is started with this.
  process.env["PATH"] = [join(project.folder, "bin"), PATH].join(delimiter);
});

afterAll(() => {
  process.env["PATH"] = PATH;
  rmSync(project.folder, { recursive: true });
});

/** A process evaluates a file once. */
const replies = new Map<string, Promise<LoadReply>>();

async function loaded(name: string): Promise<LoadReply> {
  const known = replies.get(name);
  if (known !== undefined) return await known;
  const cacheDir = mkdtempSync(join(tmpdir(), "cache-"));
  onTestFinished(() => rmSync(cacheDir, { recursive: true }));
  const scene = SCENES[name];
  const play = scene === undefined ? {} : { play: { ...scene, projectDir: project.folder } };
  const request = { entryPath: join(FOLDER, name), projectDir: FOLDER, cacheDir, ...play };
  const reply = load(request);
  replies.set(name, reply);
  return await reply;
}

/** A graph in a few lines: its head, `node kind` for each node and `from -> to` for each edge. */
function drawn(graph: Graph): string[] {
  const { startAt, maxSteps, result } = graph;
  const head = `${startAt} ${maxSteps}${result === undefined ? "" : ` ${result}`}`;
  const nodes = graph.nodes.map(({ path, kind, effect, retry }) => {
    const policy = effect === undefined ? "" : ` ${effect.policy}`;
    return `${path} ${kind}${policy}${retry === undefined ? "" : ` x${retry.maxAttempts}`}`;
  });
  return [head, ...nodes, ...graph.edges.map(edgeText)];
}

function edgeText(edge: GraphEdge): string {
  if ("to" in edge) return `${edge.from} -> ${edge.to}`;
  const cases = edge.cases.map(({ value, to }) => `${value}: ${to}`);
  const all = edge.default === undefined ? cases : [...cases, `else ${edge.default}`];
  return `${edge.from} -> ${edge.on} { ${all.join(", ")} }`;
}

const GRAPHS: Readonly<Record<string, readonly string[]>> = {
  "ask-owner.workflow.ts": [
    "plan 100",
    "plan compute",
    "ask checkpoint",
    "finish compute",
    "plan -> ask",
    "ask -> $output.ok { true: finish, false: plan }",
  ],
  "deploy.workflow.ts": [
    "build 100",
    "build shell manual",
    "approve human_decision",
    "ship shell manual",
    "explain compute",
    "left compute",
    "shipped compute",
    "build -> $result.outcome { ok: approve, failed: explain, timed_out: explain }",
    "approve -> $.choice { go: ship, stop: left }",
    "ship -> $result.outcome { ok: shipped, else explain }",
  ],
  "fix-until-green.workflow.ts": [
    "test 30 card",
    "test shell manual",
    "judge compute",
    "tell notify",
    "repair agent",
    "done notify",
    "give_up notify",
    "test -> judge",
    "judge -> $.next { repair: tell, done: done, give_up: give_up }",
    "tell -> repair",
    "repair -> test",
  ],
  "handover.workflow.mts": [
    "ask 100",
    "ask checkpoint",
    "pause wait",
    "letter agent",
    "send notify",
    "late notify",
    "ask -> $result.outcome { ok: pause, timed_out: late }",
    "pause -> letter",
    "letter -> send",
  ],
  "incident.workflow.mjs": [
    "logs 100",
    "logs shell idempotent x3",
    "severity decision",
    "look agent",
    "page action idempotent x5",
    "decide human_decision",
    "quiet compute",
    "closed compute",
    "logs -> severity",
    "severity -> $.route { low: quiet, high: page, else look }",
    "look -> decide",
    "page -> decide",
    "decide -> $.choice { resolve: closed, escalate: page }",
  ],
  "nightly.workflow.ts": [
    "until_night 500",
    "until_night wait",
    "upload action idempotent x4",
    "poll compute x2",
    "rest wait",
    "report compute",
    "until_night -> upload",
    "upload -> poll",
    "poll -> $.ready { true: report, else rest }",
    "rest -> poll",
  ],
  "release-notes.workflow.ts": [
    "collect 40",
    "collect shell idempotent",
    "draft agent",
    "approve human_decision",
    "publish action manual",
    "dropped action idempotent",
    "collect -> draft",
    "draft -> approve",
    "approve -> $.choice { publish: publish, revise: draft, drop: dropped }",
  ],
  "review-loop.workflow.ts": [
    "write 60",
    "write agent",
    "review agent",
    "judge decision",
    "say agent",
    "done compute",
    "write -> review",
    "review -> judge",
    "judge -> $.verdict { accept: say, again: write }",
    "say -> done",
  ],
  "triage.workflow.ts": [
    "load 100",
    "load compute",
    "classify decision",
    "reproduce agent",
    "scope agent",
    "answer agent",
    "done compute",
    "load -> classify",
    "classify -> $.route { bug: reproduce, feature: scope, question: answer }",
    "reproduce -> done",
    "scope -> done",
    "answer -> done",
  ],
  "survey.workflow.js": [
    "pick 1000",
    "pick compute",
    "look agent x2",
    "missed compute",
    "note notify",
    "close compute",
    "pick -> $.more { true: look, false: close }",
    "look -> $result.error.name { missing_submission: missed, model_error: missed, else note }",
    "missed -> pick",
    "note -> pick",
  ],
};

describe("workflow files as they are found in the wild", () => {
  test("are ten of various shapes", () => {
    expect(FILES.toSorted()).toEqual(Object.keys(GRAPHS).toSorted());
    expect(FILES).toHaveLength(10);
  });

  test.each(FILES)("%s loads, and compiles to its graph", async (name) => {
    const { problems, graph } = await loaded(name);
    expect(problems).toEqual([]);
    expect(graph === undefined ? [] : drawn(graph)).toEqual(GRAPHS[name]);
  });

  test.each(FILES)("%s runs to its end", async (name) => {
    const { crashed, played } = await loaded(name);
    expect(crashed).toBeUndefined();
    expect(played).toEqual({
      log: SCENES[name]?.log,
      outcome: "ok",
      result: SCENES[name]?.result,
    });
  });

  test("are warned of what nothing reads, with what was probably meant, and of an assumed effect", async () => {
    const warned = await Promise.all(FILES.map(async (name) => (await loaded(name)).warnings));
    expect(warned.flat().map(({ place = "", message }) => `${place}: ${message}`)).toEqual([
      expect.stringMatching(/^nodes\.test\.effect: no effect is stated/),
      expect.stringMatching(
        /^nodes\.decide\.presentationPrompt: unknown field, which is ignored; /,
      ),
    ]);
  });

  test("are sound for the compiler of their authors", async () => {
    const compiler = join(ROOT, "node_modules/.bin/tsc");
    const run = promisify(execFile)(compiler, ["-p", join(FOLDER, "tsconfig.json")]);
    await expect(run).resolves.toMatchObject({ stdout: "" });
  });
});
