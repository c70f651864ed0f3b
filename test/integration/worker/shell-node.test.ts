import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { NodeOutcome } from "../../../src/worker/nodes/executor.ts";
import { execute } from "../../../src/worker/nodes/index.ts";
import { PausedError, TimeoutError } from "../../../src/workflow/errors.ts";
import { idempotentEffect, shell } from "../../../src/workflow/nodes.ts";
import type { ShellCommand, ShellOptions } from "../../../src/workflow/nodes.ts";
import { testContext, testTools } from "../../support/node-tools.ts";
import type { TestTools } from "../../support/node-tools.ts";

type Options = ShellOptions<unknown, Readonly<Record<string, unknown>>, unknown>;

function run(
  command: ShellCommand | Options["exec"],
  options: Partial<Options> = {},
  tools: TestTools = testTools(),
): Promise<NodeOutcome> {
  const exec = typeof command === "function" ? command : () => command;
  return execute(
    shell({ effect: idempotentEffect("t"), exec, ...options }),
    testContext(tools),
    tools,
  );
}

const script = (text: string): ShellCommand => ({ command: text, shell: true });

/** The output of an attempt that must have ended ok. */
function outputOf(outcome: NodeOutcome): unknown {
  if (outcome.kind !== "ok") throw new Error(`the attempt ended ${JSON.stringify(outcome)}`);
  return JSON.parse(outcome.outputJson) as unknown;
}

function receiptOf(outcome: NodeOutcome): unknown {
  const effect = "effect" in outcome ? outcome.effect : undefined;
  if (effect?.kind !== "applied") throw new Error(`no receipt in ${JSON.stringify(outcome)}`);
  return JSON.parse(effect.receiptJson) as unknown;
}

describe("a shell node", () => {
  test("has the result of its command as output, and a receipt without what it printed", async () => {
    const tools = testTools();
    const outcome = await run({ command: "printf", args: ["%s", "a b"] }, {}, tools);
    expect(outputOf(outcome)).toEqual({
      stdout: "a b",
      stderr: "",
      exitCode: 0,
      signal: null,
      durationMs: expect.any(Number) as unknown,
    });
    expect(receiptOf(outcome)).toEqual({
      command: "printf",
      args: 2,
      exitCode: 0,
      signal: null,
      durationMs: expect.any(Number) as unknown,
      truncated: false,
    });
    expect(tools.heard.processes).toEqual([
      { effectId: "eff_1", pid: expect.any(Number) as unknown },
    ]);
    expect(tools.heard.notes).toEqual(["effect.performed"]);
  });

  test("makes its output with parse", async () => {
    const outcome = await run(script("echo '[1,2]'"), {
      parse: ({ stdout }) => ({ list: JSON.parse(stdout) as unknown }),
    });
    expect(outputOf(outcome)).toEqual({ list: [1, 2] });
  });

  test("runs in the project directory, and in a folder of it when told", async () => {
    const projectDir = mkdtempSync(join(tmpdir(), "proj-"));
    onTestFinished(() => rmSync(projectDir, { recursive: true }));
    const tools = testTools();
    const context = { run: { id: "r", workflow: "w", projectDir, visit: 1, attempt: 1 } };
    const node = shell({
      effect: idempotentEffect("t"),
      exec: () => ({ command: "mkdir", args: ["sub"] }),
    });
    await execute(node, testContext(tools, context), tools);
    const inner = shell({
      exec: () => ({ command: "pwd", cwd: "sub" }),
      parse: ({ stdout }) => stdout.trim(),
    });
    expect(outputOf(await execute(inner, testContext(tools, context), tools))).toBe(
      join(projectDir, "sub"),
    );
  });

  test("adds to the environment, removes from it, and keeps the tag of the run", async () => {
    vi.stubEnv("PI_WORKFLOWS_TAG", "store.1.wrk_1");
    vi.stubEnv("GONE", "x");
    const env = { ADDED: "1", GONE: undefined, PI_WORKFLOWS_TAG: undefined };
    const outcome = await run(
      { ...script('echo "$ADDED-$GONE-$PI_WORKFLOWS_TAG"'), env },
      { parse: ({ stdout }) => stdout.trim() },
    );
    expect(outputOf(outcome)).toBe("1--store.1.wrk_1");
  });

  test("through a shell keeps every argument one word", async () => {
    const args = ["a b", "it's", "$HOME", ";exit 9"];
    const outcome = await run(
      { command: "printf '<%s>'", args, shell: true },
      { parse: ({ stdout }) => stdout },
    );
    expect(outputOf(outcome)).toBe("<a b><it's><$HOME><;exit 9>");
  });

  test("gives its function the key of the effect", async () => {
    const outcome = await run((ctx) => ({ command: "printf", args: [ctx.effect.key] }), {
      parse: ({ stdout }) => stdout,
    });
    expect(outputOf(outcome)).toBe("run_1:t:n:1");
  });

  test("publishes what its lines say", async () => {
    const tools = testTools();
    await run(script("echo one; sleep 0.2; echo two; printf three"), { updates: true }, tools);
    expect(tools.heard.updates).toEqual(["one", "two"]);
    const chosen = testTools();
    const updates = (line: string): unknown =>
      line.startsWith("#") ? { step: line.slice(1) } : undefined;
    await run(script("echo '#1'; echo noise"), { updates }, chosen);
    expect(chosen.heard.updates).toEqual(['{"step":"1"}']);
  });
});

describe("a shell node whose command fails", () => {
  test("has done its effect, and fails with the end of stderr", async () => {
    const outcome = await run(script("echo first >&2; echo 'fatal: no such branch' >&2; exit 128"));
    expect(outcome).toMatchObject({
      kind: "failed",
      retryable: true,
      error: {
        name: "CommandFailedError",
        message: "/bin/sh exited with code 128: first\nfatal: no such branch",
        details: { exitCode: 128, signal: null },
      },
    });
    expect(receiptOf(outcome)).toMatchObject({ exitCode: 128 });
  });

  test("may allow it", async () => {
    const command = { ...script("exit 4"), allowNonZeroExit: true };
    expect(outputOf(await run(command, { parse: ({ exitCode }) => exitCode }))).toBe(4);
  });

  test("has done its effect when parse throws", async () => {
    const outcome = await run(script("echo no json"), {
      parse: ({ stdout }) => JSON.parse(stdout) as unknown,
    });
    expect(outcome).toMatchObject({
      kind: "failed",
      error: { name: "SyntaxError" },
      effect: { kind: "applied" },
    });
  });

  test("has done nothing when the command cannot be started", async () => {
    const outcome = await run({ command: "no-such-command-here" });
    expect(outcome).toMatchObject({
      kind: "failed",
      error: { name: "CommandStartError" },
      effect: { kind: "rejected" },
    });
  });

  test("leaves it open what happened when its own time is over", async () => {
    const outcome = await run({ ...script("sleep 300"), timeoutMs: 100 });
    expect(outcome).toMatchObject({
      kind: "timed_out",
      error: { name: "TimeoutError" },
      effect: { kind: "unknown" },
    });
  });

  test("leaves it open what happened when the attempt's time is over", async () => {
    const tools = testTools();
    const outcome = run(
      script("echo up; sleep 300"),
      { updates: () => tools.abort(new TimeoutError("n", 9)) },
      tools,
    );
    expect(await outcome).toMatchObject({ kind: "timed_out", effect: { kind: "unknown" } });
  });

  test("ends without a proposal when the run is paused", async () => {
    const tools = testTools();
    const outcome = run(
      script("echo up; sleep 300"),
      { updates: () => tools.abort(new PausedError()) },
      tools,
    );
    expect(await outcome).toEqual({ kind: "stopped" });
  });
});

describe("a shell node whose function returns no command", () => {
  test.each<[unknown, string]>([
    [undefined, "nodes.n.exec: must return { command, … }, not undefined"],
    [{}, "nodes.n.exec.command: must be a text, not undefined"],
    [{ command: "" }, "nodes.n.exec.command: must not be empty"],
    [{ command: "a\0b" }, "nodes.n.exec.command: must not hold a zero byte"],
    [{ command: "a", args: "b" }, "nodes.n.exec.args: must be an array"],
    [{ command: "a", args: ["b", 5] }, "nodes.n.exec.args[1]: must be a text, not number"],
    [{ command: "a", cwd: 5 }, "nodes.n.exec.cwd: must be a text, not number"],
    [{ command: "a", env: { X: 5 } }, "nodes.n.exec.env.X: must be a text, not number"],
    [{ command: "a", stdin: {} }, "nodes.n.exec.stdin: must be a text or bytes, not object"],
    [{ command: "a", shell: 5 }, "nodes.n.exec.shell: must be true, false or a path, not number"],
    [{ command: "a", timeoutMs: -1 }, "nodes.n.exec.timeoutMs: must be more than 0 ms, not -1"],
    [
      { command: "a", maxOutputChars: -1 },
      "nodes.n.exec.maxOutputChars: must be a whole number up to 8388608",
    ],
  ])("fails before it asks: %j", async (returned, message) => {
    const tools = testTools();
    const outcome = await run(() => returned as ShellCommand, {}, tools);
    expect(outcome).toMatchObject({ kind: "failed", error: { message } });
    expect(tools.heard.effects).toEqual([]);
  });
});

describe("the fingerprint of a shell node", () => {
  async function fingerprint(command: ShellCommand): Promise<string | undefined> {
    const tools = testTools({ kind: "blocked" });
    expect(await run(command, {}, tools)).toEqual({ kind: "stopped" });
    return tools.heard.effects[0]?.fingerprint;
  }

  test("is made of command, arguments, folder and input, not of the environment", async () => {
    const base = { command: "deploy", args: ["--to", "x"], cwd: "/tmp", stdin: "secret" };
    const first = await fingerprint(base);
    expect(await fingerprint({ ...base, env: { TOKEN: "t" }, timeoutMs: 5 })).toBe(first);
    for (const other of [
      { command: "d" },
      { args: ["--to", "y"] },
      { cwd: "/" },
      { stdin: "other" },
    ])
      expect(await fingerprint({ ...base, ...other })).not.toBe(first);
  });
});

test("a shell node that was applied before cannot print again", async () => {
  const outcome = await run(
    { command: "true" },
    {},
    testTools({ kind: "stored", receiptJson: '{"exitCode":0}' }),
  );
  expect(outcome).toMatchObject({
    kind: "failed",
    retryable: false,
    error: { name: "OutputLostError" },
  });
});
