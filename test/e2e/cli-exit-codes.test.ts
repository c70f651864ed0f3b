import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { runCli, runShell, startCli } from "../support/cli-process.ts";
import type { CliEnd } from "../support/cli-process.ts";
import { refusal, startFakeHost, stateFolder } from "../support/fake-host.ts";
import type { FakeServices } from "../support/fake-host.ts";

const ROOT = join(import.meta.dirname, "../..");
const RUN = "run_01jd0000000000000000000001";

let paths: StatePaths;

beforeEach(() => {
  const folder = stateFolder();
  paths = folder.paths;
  onTestFinished(folder.remove);
});

async function fakeHost(services: FakeServices): Promise<void> {
  const host = await startFakeHost(paths, services);
  onTestFinished(() => host.stop());
}

/** A copy of the command line beside a host program that does what `source` says. */
function programs(source: string): string {
  const dist = join(paths.folder, "p", "dist");
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(dist, "../package.json"), readFileSync(join(ROOT, "package.json")));
  copyFileSync(join(ROOT, "dist/cli.cjs"), join(dist, "cli.cjs"));
  writeFileSync(join(dist, "host.cjs"), source);
  return join(dist, "cli.cjs");
}

/** Runs a command in text and in JSON mode; both must end alike. */
async function inBothModes(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly text: CliEnd; readonly json: unknown }> {
  const text = await runCli({ paths }, ...args);
  const json = await runCli({ paths }, ...args, "--json");
  expect(json.code).toBe(text.code);
  for (const { stdout, stderr } of [text, json]) expect(stdout + stderr).not.toMatch(/^\s+at /m);
  const last = json.stdout.trimEnd().split("\n").at(-1) ?? "";
  return { code: text.code, text, json: JSON.parse(last) };
}

describe("how a run is", () => {
  const outcomes: readonly (readonly [string, object, number])[] = [
    ["completed", { status: RunStatus.COMPLETED }, 0],
    ["failed", { status: RunStatus.FAILED }, 10],
    ["cancelled", { status: RunStatus.CANCELLED }, 11],
    ["timed out", { status: RunStatus.TIMED_OUT }, 12],
    ["needing an answer", { status: RunStatus.WAITING, interactionId: "int_1" }, 13],
    ["blocked", { status: RunStatus.BLOCKED }, 14],
    ["paused", { status: RunStatus.PAUSED }, 15],
  ];

  test.each(outcomes)("is told by show, watch and start --wait: %s", async (_name, state, code) => {
    const run = { summary: { runId: RUN, workflow: "w", title: "t", ...state } };
    await fakeHost({
      runs: {
        getRun: () => ({ run }),
        startRun: () => ({ receipt: { runId: RUN } }),
        async *watchRun() {
          yield await Promise.resolve({ run });
        },
      },
    });
    const ends = [
      await inBothModes("show", RUN),
      await inBothModes("watch", RUN),
      await inBothModes("start", "w", "--wait"),
    ];
    expect(ends.map((end) => end.code)).toEqual([code, code, code]);
    for (const { json } of ends) expect(json).toMatchObject({ run: { summary: { runId: RUN } } });
  });

  test("is not known yet when the watching ends first", async () => {
    const run = { summary: { runId: RUN, title: "t", status: RunStatus.RUNNING } };
    await fakeHost({
      runs: {
        async *watchRun() {
          yield { run };
          await new Promise(() => undefined);
        },
      },
    });
    for (const mode of [[], ["--json"]]) {
      const left = await runCli({ paths }, "watch", RUN, "--timeout", "50ms", ...mode);
      expect(left.code).toBe(16);
      expect(left.stderr).toBe(`the run goes on: pi-workflows watch ${RUN}\n`);
    }

    const watching = startCli({ paths }, "watch", RUN);
    await expect.poll(watching.stdout, { timeout: 20_000 }).toContain("running");
    watching.child.kill("SIGINT");
    const end = await watching.end;
    expect(end.code).toBe(16);
    expect(end.stderr).toBe(`the run goes on: pi-workflows watch ${RUN}\n`);
  });
});

describe("what the host refuses", () => {
  test.each([
    [Reason.RUN_NOT_FOUND, 4, "refused", ""],
    [Reason.ILLEGAL_TRANSITION, 3, "refused", ""],
    [Reason.STORAGE_FULL, 3, "refused", ""],
    [Reason.VERSION_SKEW, 5, "unreachable", "  run: pi-workflows host restart\n"],
    [
      Reason.WORKER_FAILED,
      3,
      "refused",
      "  nothing was started; if the package was replaced, run: pi-workflows host restart\n",
    ],
  ])("reason %d ends with %d", async (reason, code, kind, remedy) => {
    await fakeHost({
      runs: {
        pauseRun: () => {
          throw refusal(Code.FailedPrecondition, { reason, message: "it says why", runId: RUN });
        },
      },
    });
    const end = await inBothModes("pause", RUN);
    expect(end.code).toBe(code);
    expect(end.text.stdout).toBe("");
    expect(end.text.stderr).toBe(`pi-workflows: it says why\n${remedy}`);
    expect(end.json).toMatchObject({
      error: { kind, exitCode: code, message: "it says why", rejection: { runId: RUN } },
    });
  });

  test("tells all problems of a workflow file, each with its place", async () => {
    const problems = [
      { message: "no node is called x", file: "/p/w.ts", line: 3, column: 5, place: "edges[0].to" },
      { message: "the start is missing", place: "startAt" },
    ];
    await fakeHost({
      runs: {
        validateWorkflow: () => ({ problems, workflowPath: "/p/w.ts" }),
        startRun: () => {
          const message = "the workflow has 2 problems";
          throw refusal(Code.InvalidArgument, {
            reason: Reason.WORKFLOW_INVALID,
            message,
            problems,
          });
        },
      },
    });
    const lines = [
      "/p/w.ts:3:5: no node is called x (edges[0].to)",
      "the start is missing (startAt)",
    ];
    const started = await inBothModes("start", "w");
    expect(started.code).toBe(2);
    const told = [
      "pi-workflows: the workflow has 2 problems",
      ...[...lines, "check it with: pi-workflows validate /p/w.ts"].map((line) => `  ${line}`),
    ];
    expect(started.text.stderr.trimEnd().split("\n")).toEqual(told);
    const validated = await inBothModes("validate", "w");
    expect(validated.code).toBe(2);
    for (const line of lines) expect(validated.text.stdout).toContain(line);
    expect(validated.json).toMatchObject({ problems: [{ line: 3 }, { place: "startAt" }] });
  });
});

describe("a wrong command line", () => {
  test.each([
    [["frobnicate"], "pi-workflows help"],
    [["show"], "pi-workflows help show"],
    [["show", RUN, "--nope"], "pi-workflows help show"],
    [["start", "w", "--input", "{"], "pi-workflows help start"],
    [["start", "w", "--wait", "--detach"], "pi-workflows help start"],
    [["start", "w", "--timeout", "5s"], "pi-workflows help start"],
    [["start", "w", "--wait", "--timeout", "soon"], "pi-workflows help start"],
    [["effects", "resolve", "eff_1"], "pi-workflows help effects resolve"],
    [["list", "--status", "happy"], "pi-workflows help list"],
  ])("%j ends with 2 and names the help, before a host is started", async (args, help) => {
    const { code, text, json } = await inBothModes(...args);
    expect(code).toBe(2);
    expect(text.stdout).toBe("");
    expect(text.stderr.trimEnd().endsWith(`see: ${help}`)).toBe(true);
    expect(json).toMatchObject({ error: { kind: "usage", exitCode: 2 } });
  });
});

describe("without a host", () => {
  test("host status says so and starts none", async () => {
    const { code, text, json } = await inBothModes("host", "status");
    expect(code).toBe(5);
    expect(text.stderr).toBe("pi-workflows: no host is running\n");
    expect(json).toMatchObject({ error: { kind: "unreachable", exitCode: 5 } });
  });

  test("host stop has nothing to do", async () => {
    const { code, text, json } = await inBothModes("host", "stop");
    expect(code).toBe(0);
    expect(text.stdout).toBe("no host is running\n");
    expect(json).toEqual({ stopped: false });
  });

  // The reason used to be somewhere in a file, and the user saw only that it took too long.
  test("that starts, its last line and its log are told at once", async () => {
    const entry = programs('console.error("settings.json: capacity: too large"); process.exit(1);');
    const text = await runCli({ paths, entry }, "list");
    expect(text).toMatchObject({ code: 5, stdout: "" });
    expect(text.stderr).toBe(
      "pi-workflows: no host is running; starting one\n" +
        "pi-workflows: the host could not be started: settings.json: capacity: too large\n" +
        `  log: ${paths.log}\n`,
    );
    const json = await runCli({ paths, entry }, "list", "--json");
    expect(json).toMatchObject({ code: 5, stderr: "" });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { logPath: paths.log } });
  });

  test("six at once each try once, not for ever", async () => {
    const count = join(paths.folder, "starts");
    const entry = programs(
      `require("node:fs").appendFileSync(${JSON.stringify(count)}, "x"); process.exit(1);`,
    );
    const ends = await Promise.all(
      Array.from({ length: 6 }, () => runCli({ paths, entry }, "list")),
    );
    expect(ends.map(({ code }) => code)).toEqual(ends.map(() => 5));
    expect(readFileSync(count, "utf8").length).toBeLessThanOrEqual(ends.length);
  });

  test("a doctor still tells what is wrong", async () => {
    const entry = programs('console.error("no"); process.exit(1);');
    writeFileSync(join(paths.folder, "settings.json"), '{"capacity":0}');
    const { code, stdout } = await runCli({ paths, entry }, "doctor");
    expect(code).toBe(5);
    expect(stdout).toMatch(/^ok +Node\.js/m);
    expect(stdout).toMatch(/^wrong +database driver .*better-sqlite3/m);
    expect(stdout).toMatch(/^wrong +settings .*capacity/m);
    expect(stdout).toMatch(/^wrong +host +the host could not be started: no/m);
  });

  test("a folder that others can enter is refused with the remedy", async () => {
    const { code, stdout } = await runShell(
      { paths, entry: programs("process.exit(1)") },
      `chmod 755 "${paths.folder}"; cli doctor`,
    );
    expect(code).toBe(5);
    expect(stdout).toContain(`run: chmod 700 '${paths.folder}'`);
  });
});
