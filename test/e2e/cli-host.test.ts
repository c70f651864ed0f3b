import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { livingHost } from "../../src/client/host-file.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { taggedProcesses } from "../../src/platform/process-identity.ts";
import { statePaths } from "../../src/platform/state-folder.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { runCli, runOnTerminal, runShell, startCli } from "../support/cli-process.ts";
import { newStateFolder } from "../support/real-host.ts";

const WAIT = { timeout: 30_000 };

const QUESTION = `import { checkpoint, compute, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "question",
  startAt: "before",
  nodes: {
    before: compute({ run: ({ input }) => ({ got: input }) }),
    ask: checkpoint({ summary: "Go on?" }),
    after: compute({ run: ({ outputs }) => ({ before: outputs.before, answer: outputs.ask }) }),
  },
  edges: [
    { from: "before", to: "ask" },
    { from: "ask", to: "after" },
  ],
});
`;

/** A state folder whose host, started by whatever command, is stopped after the test. */
function place(): StatePaths {
  const folder = newStateFolder();
  const paths = statePaths({ ...process.env, PI_WORKFLOWS_HOME: join(folder, "state") });
  const project = join(folder, "a b'c$(x)é 工");
  mkdirSync(join(project, ".pi/workflows"), { recursive: true });
  mkdirSync(paths.folder, { mode: 0o700 });
  writeFileSync(join(project, ".pi/workflows/question.workflow.ts"), QUESTION);
  onTestFinished(async () => {
    const host = livingHost(paths);
    if (host !== undefined) process.kill(host.pid, "SIGKILL");
    const tag = sha256Hex(paths.folder).slice(0, 16);
    await expect.poll(() => taggedProcesses(tag), WAIT).toEqual([]);
    await expect.poll(() => livingHost(paths)).toBeUndefined();
  });
  return paths;
}

const projectOf = (paths: StatePaths): string => join(paths.folder, "../a b'c$(x)é 工");

describe("the first command that needs a host", () => {
  test("starts one, which outlives it, and every command then talks to that one", async () => {
    const paths = place();
    const cwd = projectOf(paths);
    const listed = await runCli({ paths, cwd }, "workflows", "--json");
    expect(JSON.parse(listed.stdout)).toMatchObject({ workflows: [{ name: "question" }] });
    expect(livingHost(paths)).toBeUndefined();

    const input = '{"é":[1,null]}';
    const started = await runCli(
      { paths, cwd },
      "start",
      "question",
      "--input",
      input,
      "--wait",
      "--json",
    );
    expect(started.stderr).toBe("");
    expect(started.code).toBe(13);
    const pid = livingHost(paths)?.pid;
    expect(pid).toBeDefined();
    const runId = (
      JSON.parse(started.stdout.split("\n")[0] ?? "") as { receipt: { runId: string } }
    ).receipt.runId;

    const answered = await runCli({ paths, cwd }, "answer", runId.slice(0, 24), '{"go":true}');
    expect(answered.stderr).toBe("");
    const watched = await runCli({ paths, cwd }, "watch", runId);
    expect(watched.code).toBe(0);
    expect(watched.stdout).toContain('"answer": {\n      "go": true');
    const result = await runCli({ paths, cwd }, "show", runId, "--result", "--json");
    expect(JSON.parse(result.stdout)).toEqual({
      value: { before: { got: { é: [1, null] } }, answer: { go: true } },
    });
    const events = await runCli({ paths, cwd }, "events", runId, "--follow", "--json");
    const kinds = events.stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds[0]).toBe("admit");
    expect(kinds.at(-1)).toBe("finish");
    expect(livingHost(paths)?.pid).toBe(pid);
  });

  test("is not alone: all of ten at once get the same host", async () => {
    const paths = place();
    const ends = await Promise.all(
      Array.from({ length: 10 }, () => runCli({ paths }, "host", "start", "--json")),
    );
    expect(ends.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      ends.map(() => ({ code: 0, stderr: "" })),
    );
    const pids = ends.map(({ stdout }) => (JSON.parse(stdout) as { pid: number }).pid);
    expect(new Set(pids)).toEqual(new Set([livingHost(paths)?.pid]));
  });

  test("leaves it alive when its terminal closes and its group is killed", async () => {
    const paths = place();
    await runOnTerminal({ paths }, "host start");
    const onTerminal = livingHost(paths);
    expect(onTerminal).toBeDefined();
    await runCli({ paths }, "host", "stop");
    // A session of its own, so that the signals reach what this line starts and nothing else.
    const group = `"$NODE" "$ENTRY" list; kill -INT 0; kill -HUP 0`;
    await runShell({ paths }, `setsid -w bash -c 'trap "" INT; ${group}'`);
    const host = livingHost(paths);
    expect(host?.pid).not.toBe(onTerminal?.pid);
    expect((await runCli({ paths }, "host", "status")).code).toBe(0);
  });
});

describe("a host", () => {
  test("that was stopped is gone when the command returns", async () => {
    const paths = place();
    await runCli({ paths }, "host", "start");
    const host = livingHost(paths);
    const end = await runCli({ paths }, "host", "stop");
    expect(end.stdout).toBe(`the host stopped (pid ${host?.pid})\n`);
    expect(existsSync(paths.hostFile)).toBe(false);
    expect((await runCli({ paths }, "host", "status")).code).toBe(5);
  });

  test("that is restarted is another one", async () => {
    const paths = place();
    await runCli({ paths }, "host", "start");
    const first = livingHost(paths);
    const end = await runCli({ paths }, "host", "restart", "--json");
    expect(end.code).toBe(0);
    expect(JSON.parse(end.stdout)).toMatchObject({ pid: livingHost(paths)?.pid, state: "serving" });
    expect(livingHost(paths)?.pid).not.toBe(first?.pid);
  });

  test("that does not run is found by its file, and a stop ends it all the same", async () => {
    const paths = place();
    await runCli({ paths }, "host", "start");
    const host = livingHost(paths);
    if (host === undefined) throw new Error("no host");
    process.kill(host.pid, "SIGSTOP");
    const listing = startCli({ paths }, "list");
    const end = await listing.end;
    expect(end.code).toBe(5);
    expect(end.stderr).toContain(`the host (pid ${host.pid}) is stopped and does not answer`);
    process.kill(host.pid, "SIGCONT");
    expect((await runCli({ paths }, "list")).code).toBe(0);
  });

  test("in the foreground is the command itself, and ends in order by Ctrl-C", async () => {
    const paths = place();
    const running = startCli({ paths }, "host", "run");
    await expect.poll(() => livingHost(paths)?.pid, WAIT).toBe(running.child.pid);
    const refused = await runCli({ paths }, "host", "run");
    expect(refused.code).toBe(3);
    running.child.kill("SIGINT");
    const end = await running.end;
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(existsSync(paths.hostFile)).toBe(false);
  });

  test("writes a log that can be read without it", async () => {
    const paths = place();
    await runCli({ paths }, "host", "start");
    await runCli({ paths }, "host", "stop");
    const text = await runCli({ paths }, "host", "logs");
    expect(text.stdout).toMatch(/info .*host\.started/);
    const json = await runCli({ paths }, "host", "logs", "--json", "--lines", "1");
    const last = readFileSync(paths.log, "utf8").trimEnd().split("\n").at(-1);
    expect(json.stdout).toBe(`${last}\n`);
  });
});

describe("whoever watches", () => {
  test("sees the run go on with the next host when this one is killed", async () => {
    const paths = place();
    const cwd = projectOf(paths);
    const started = await runCli({ paths, cwd }, "start", "question");
    const runId = started.stdout.trim();
    const watching = startCli({ paths, cwd }, "watch", runId, "--stay");
    await expect.poll(watching.stdout, WAIT).toContain("waiting");
    const first = livingHost(paths);
    process.kill(first?.pid ?? 0, "SIGKILL");
    await expect.poll(watching.stderr, WAIT).toContain("lost the host; connecting again");
    await expect.poll(() => livingHost(paths)?.pid, WAIT).toBeDefined();
    expect(livingHost(paths)?.pid).not.toBe(first?.pid);
    expect((await runCli({ paths, cwd }, "answer", runId, "1")).code).toBe(0);
    const end = await watching.end;
    expect(end.code).toBe(0);
    expect(end.stdout).toContain("completed");
  });

  test("does not bring back a host that was stopped, and leaves the run as it is", async () => {
    const paths = place();
    const cwd = projectOf(paths);
    const runId = (await runCli({ paths, cwd }, "start", "question")).stdout.trim();
    const watching = startCli({ paths, cwd }, "watch", runId, "--stay");
    await expect.poll(watching.stdout, WAIT).toContain("waiting");
    expect((await runCli({ paths }, "host", "stop")).code).toBe(0);
    const end = await watching.end;
    expect(end.code).toBe(16);
    expect(end.stderr).toContain(
      "the host was stopped; the run goes on when a host is started again",
    );
    expect(livingHost(paths)).toBeUndefined();
  });

  test("on a terminal sees a picture that is drawn over, and the result below it", async () => {
    const paths = place();
    const cwd = projectOf(paths);
    const runId = (await runCli({ paths, cwd }, "start", "question")).stdout.trim();
    const watching = runOnTerminal({ paths, cwd }, `watch ${runId}`);
    await expect
      .poll(async () => (await runCli({ paths, cwd }, "answer", runId, "true")).code, WAIT)
      .toBe(0);
    const { code, stdout } = await watching;
    expect(code).toBe(0);
    expect(stdout).toMatch(/\u001b\[\d+A\r\u001b\[J/);
    expect(stdout.trimEnd().endsWith("}")).toBe(true);
  });
});
