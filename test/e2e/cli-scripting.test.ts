import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { toValue } from "../../src/cli/values.ts";
import { Code } from "@connectrpc/connect";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { runCli, runOnTerminal, runShell } from "../support/cli-process.ts";
import { refusal, startFakeHost, stateFolder } from "../support/fake-host.ts";
import type { FakeServices } from "../support/fake-host.ts";

const RUN = "run_01jd0000000000000000000001";
const ESCAPE = /\u001b/;
/** Well above what a pipe holds, and with letters of several bytes. */
const LARGE = "é工🎉 ".repeat(500_000);

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

const summary = (title = "t") => ({
  runId: RUN,
  workflow: "w",
  title,
  status: RunStatus.COMPLETED,
});
const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

// A program that ends before its output has left it loses everything beyond the
// first 64 KiB of a pipe, and says that all went well.
describe("large output", () => {
  test("is the same through a pipe, through a slow pipe and in a file", async () => {
    await fakeHost({ runs: { getRunValue: () => ({ value: toValue("", LARGE) }) } });
    const piped = await runCli({ paths }, "show", RUN, "--result", "--json");
    expect(piped.code).toBe(0);
    expect(JSON.parse(piped.stdout)).toEqual({ value: LARGE });
    expect(piped.stdout.length).toBeGreaterThan(2_000_000);

    const file = join(paths.folder, "out.json");
    await runShell({ paths }, `cli show ${RUN} --result --json > "${file}"`);
    expect(sha256(readFileSync(file))).toBe(sha256(piped.stdout));

    const slow = await runShell(
      { paths },
      `cli show ${RUN} --result --json | dd bs=512 status=none | sha256sum; exit \${PIPESTATUS[0]}`,
    );
    expect(slow.stdout.split(" ")[0]).toBe(sha256(piped.stdout));
    expect(slow.code).toBe(0);
  });

  test("of an error keeps its exit code", async () => {
    await fakeHost({
      runs: {
        getRun: () => {
          throw refusal(Code.NotFound, {
            reason: Reason.RUN_NOT_FOUND,
            message: "x".repeat(60_000),
          });
        },
      },
    });
    const { code, stdout, stderr } = await runCli({ paths }, "show", RUN, "--json");
    expect(code).toBe(4);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({ error: { message: "x".repeat(60_000) } });
  });
});

describe("a reader that goes away", () => {
  const many = Array.from({ length: 5_000 }, (_, index) => summary(`run number ${index}`));
  const services: FakeServices = {
    runs: {
      listRuns: () => ({ runs: many }),
      async *watchRun() {
        for (let steps = 0; ; steps += 1) {
          yield { run: { summary: { ...summary(`step ${steps}`), status: RunStatus.RUNNING } } };
          await Promise.resolve();
        }
      },
      async *readRunLog() {
        for (;;) {
          yield { workerId: "wrk_1", data: Buffer.alloc(65_536, "log line\n") };
          await Promise.resolve();
        }
      },
    },
  };

  test.each([
    "list --all",
    "list --all --json",
    `watch ${RUN}`,
    `watch ${RUN} --json`,
    `logs ${RUN}`,
    "help",
  ])("ends `%s` in silence", async (line) => {
    await fakeHost(services);
    const { code, stdout, stderr } = await runShell(
      { paths },
      `cli ${line} | head -n 1 | wc -l; exit \${PIPESTATUS[0]}`,
    );
    expect(stderr).toBe("");
    expect(stdout.trim()).toBe("1");
    expect(code).toBe(0);
  });

  test.each(["cli list >&-", "cli list 2>&-", "cli list <&-", "cli list <&- >&- 2>&-"])(
    "was never there: `%s`",
    async (line) => {
      await fakeHost({ runs: { listRuns: () => ({ runs: [summary()] }) } });
      const { code, stderr } = await runShell({ paths }, line);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    },
  );

  test("for want of space is no success", async () => {
    await fakeHost({ runs: { listRuns: () => ({ runs: [summary()] }) } });
    const { code, stderr } = await runShell({ paths }, "cli list > /dev/full");
    expect(stderr).toMatch(/^pi-workflows: the output could not be written: ENOSPC/);
    expect(code).toBe(1);
  });
});

describe("without a terminal", () => {
  const question = { interactionId: "int_01jd", summary: "Go on?" };

  test.each([
    [["prune"], "--yes"],
    [["doctor", "--repair"], "--yes"],
    [["answer", "int_01jd"], "--text"],
  ])("%j asks nothing and names the option", async (args, option) => {
    await fakeHost({ interactions: { getInteraction: () => ({ interaction: question }) } });
    for (const stdin of [undefined, "open"] as const) {
      const { code, stdout, stderr } = await runCli(
        { paths, ...(stdin ? { stdin } : {}) },
        ...args,
      );
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(option);
    }
  });

  test("an answer comes from stdin, a file or the command line", async () => {
    const answers: unknown[] = [];
    await fakeHost({
      interactions: {
        getInteraction: () => ({ interaction: question }),
        answerCheckpoint: ({ answer }) => {
          answers.push(answer?.kind);
          return { interaction: question };
        },
      },
    });
    const text = '{"a":"é"}';
    const ends = [
      await runCli({ paths, stdin: { text } }, "answer", "int_01jd", "-"),
      await runCli({ paths }, "answer", "int_01jd", "--text", "yes"),
      await runCli({ paths }, "answer", "int_01jd", "false"),
    ];
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(answers).toEqual([
      toValue("", { a: "é" }).kind,
      toValue("", "yes").kind,
      toValue("", false).kind,
    ]);
  });

  test("nothing is coloured, whatever FORCE_COLOR says", async () => {
    await fakeHost({ runs: { listRuns: () => ({ runs: [summary()] }) } });
    const end = await runCli({ paths, env: { FORCE_COLOR: "1" } }, "list");
    expect(end.stdout).toContain(RUN);
    expect(end.stdout).not.toMatch(ESCAPE);
  });
});

describe("on a terminal", () => {
  const evil = { ...summary("\u001b[2J!"), workflow: "w\u202e" };

  test("there are colours, and none that a title brought along", async () => {
    await fakeHost({ runs: { listRuns: () => ({ runs: [evil] }) } });
    const { stdout } = await runOnTerminal({ paths }, "list");
    expect(stdout).toContain("\u001b[32mcompleted\u001b[39m");
    expect(stdout).toContain("\\x1b[2J!");
    expect(stdout).not.toContain("\u001b[2J");
  });

  test.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("there are none with %j", async (env) => {
    await fakeHost({ runs: { listRuns: () => ({ runs: [evil] }) } });
    const { stdout } = await runOnTerminal({ paths, env }, "list");
    expect(stdout).toContain("completed");
    expect(stdout).not.toMatch(ESCAPE);
  });
});

describe("odd arguments", () => {
  test.each(["../../../etc/passwd", "x".repeat(300), "con", "a\nb", "\u001b[2J", "%00"])(
    "%j is an id like any other, and shown as what it is",
    async (id) => {
      const asked: string[] = [];
      await fakeHost({
        runs: {
          getRun: ({ runId }) => {
            asked.push(runId);
            throw refusal(Code.NotFound, {
              reason: Reason.RUN_NOT_FOUND,
              message: `no run ${runId}`,
            });
          },
        },
      });
      const { code, stderr } = await runCli({ paths }, "show", "--", id);
      expect(code).toBe(4);
      expect(asked).toEqual([id]);
      expect(stderr).not.toMatch(ESCAPE);
    },
  );
});

describe("completion in bash", () => {
  /** What bash would offer when Tab is pressed at the end of `words`. */
  async function offered(...words: readonly string[]): Promise<readonly string[]> {
    const list = words.map((word) => `'${word}'`).join(" ");
    const { stdout, stderr } = await runShell(
      { paths },
      `pi-workflows() { cli "$@"; }; eval "$(cli completion bash)";` +
        `COMP_WORDS=(pi-workflows ${list}); COMP_CWORD=${words.length}; _pi_workflows;` +
        'printf "%s\\n" "${COMPREPLY[@]}"',
    );
    expect(stderr).toBe("");
    return stdout.trim().split("\n");
  }

  test("offers commands, verbs, options, their values, and the ids of a running host", async () => {
    await fakeHost({ runs: { listRuns: () => ({ runs: [summary()] }) } });
    expect(await offered("re")).toEqual(["resume", "restart"]);
    expect(await offered("host", "st")).toEqual(["start", "status", "stop"]);
    expect(await offered("effects", "resolve", "--r")).toEqual(["--retry"]);
    expect(await offered("list", "--status", "bl")).toEqual(["blocked"]);
    expect(await offered("show", "run_")).toEqual([RUN]);
    expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  test("is quiet without a host, and starts none", async () => {
    expect(await offered("show", "run_")).toEqual([""]);
  });
});
