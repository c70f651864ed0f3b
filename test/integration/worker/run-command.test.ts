import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { groupMembers, groupOf } from "../../../src/platform/process-identity.ts";
import type { Command } from "../../../src/worker/nodes/command.ts";
import { signalGroup } from "../../../src/worker/nodes/process-group.ts";
import { runCommand } from "../../../src/worker/nodes/run-command.ts";
import type { CommandHooks, CommandResult } from "../../../src/worker/nodes/run-command.ts";
import { CommandStartError } from "../../../src/worker/nodes/start-error.ts";

// What a command leaves behind, floods or refuses to stop must never be more than the
// command's own trouble. These are real processes.

interface Ran extends CommandResult {
  readonly pid: number;
}

async function run(command: Partial<Command>, hooks: Partial<CommandHooks> = {}): Promise<Ran> {
  let pid = 0;
  const result = await runCommand(
    {
      command: "/bin/sh",
      args: [],
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", TMPDIR: tmpdir() },
      timeoutMs: null,
      maxOutputChars: 1_000_000,
      ...command,
    },
    {
      signal: new AbortController().signal,
      onSpawn: (spawned) => {
        pid = spawned;
      },
      print: () => undefined,
      ...hooks,
    },
  );
  return { ...result, pid };
}

function sh(
  script: string,
  hooks: Partial<CommandHooks> = {},
  rest: Partial<Command> = {},
): Promise<Ran> {
  return run({ args: ["-c", script], ...rest }, hooks);
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "cmd-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

describe("a command", () => {
  test("ends with its output, exit code and duration", async () => {
    const result = await sh("echo out; echo err >&2; exit 3");
    expect(result).toMatchObject({
      stdout: "out\n",
      stderr: "err\n",
      stderrTail: "err\n",
      exitCode: 3,
      signal: null,
      truncated: false,
      ended: "by_itself",
    });
    expect(result.durationMs).toBeGreaterThanOrEqual(0);
  });

  test("runs in a group of its own, with its folder, environment and input", async () => {
    const cwd = folder();
    const script = 'echo "$PWD $FOO"; cat; ps -o pgid= -p $$ | tr -d " "';
    const env = { PATH: "/usr/bin:/bin", FOO: "bar é" };
    const result = await sh(script, {}, { cwd, env, stdin: "in 🎉\n" });
    expect(result.stdout).toBe(`${cwd} bar é\nin 🎉\n${result.pid}\n`);
  });

  test("takes megabytes of input, also when it does not read them", async () => {
    const stdin = "x".repeat(8 * 1024 * 1024);
    expect((await sh("wc -c | tr -d ' '", {}, { stdin })).stdout).toBe(`${stdin.length}\n`);
    expect(await sh("exit 0", {}, { stdin })).toMatchObject({ exitCode: 0, ended: "by_itself" });
  });

  test("takes bytes that are no text", async () => {
    const result = await sh("od -An -tx1", {}, { stdin: Uint8Array.of(0, 255, 10) });
    expect(result.stdout.trim()).toBe("00 ff 0a");
  });

  test("that a signal ended says which", async () => {
    expect(await sh("kill -SEGV $$")).toMatchObject({
      exitCode: null,
      signal: "SIGSEGV",
      ended: "by_itself",
    });
  });

  test("that floods is cut with a mark, in bounded memory", async () => {
    const before = process.memoryUsage().rss;
    const result = await sh(
      "head -c 200000000 /dev/zero | tr '\\0' x; head -c 5000000 /dev/zero | tr '\\0' y >&2",
    );
    expect(result.truncated).toBe(true);
    expect(result.stdout).toBe(`${"x".repeat(1_000_000)}\n[cut: 199000000 more bytes]`);
    expect(result.stderr.length).toBeLessThan(1_000_100);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });
});

describe("a command that cannot be started", () => {
  test.each<[string, Partial<Command>, string]>([
    [
      "there is no such command",
      { command: "no-such-command-here" },
      'cannot run "no-such-command-here": there is no such command in PATH (/usr/bin:/bin)',
    ],
    [
      "there is no such file",
      { command: "/no/such/file" },
      'cannot run "/no/such/file": there is no such file',
    ],
    [
      "there is no such folder",
      { command: "/bin/sh", cwd: "/no/such/folder" },
      'cannot run "/bin/sh": there is no folder /no/such/folder',
    ],
    [
      "an argument is too long",
      { args: ["-c", `: ${"x".repeat(4_000_000)}`] },
      'cannot run "/bin/sh": its arguments and environment are too long; use stdin or a file',
    ],
  ])("says what to mend: %s", async (_name, command, message) => {
    const attempt = run(command);
    await expect(attempt).rejects.toBeInstanceOf(CommandStartError);
    await expect(attempt).rejects.toThrow(message);
  });

  test("says so when the file may not be run", async () => {
    const file = join(folder(), "plain.txt");
    writeFileSync(file, "echo hi", { mode: 0o600 });
    await expect(run({ command: file })).rejects.toThrow("it may not be run; check its mode");
  });
});

// Most of it is waiting, which can be done side by side.
describe.concurrent("a command that does not end", () => {
  test("is ended when its time is over", async () => {
    const result = await sh("echo begun; sleep 300", {}, { timeoutMs: 300 });
    expect(result).toMatchObject({ stdout: "begun\n", signal: "SIGTERM", ended: "timed_out" });
    expect(groupMembers(result.pid)).toEqual([]);
  });

  test("is ended by an abort, also one that came first", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const running = sh("echo ready; sleep 300", {
      signal,
      onStdout: () => controller.abort(new Error("stop")),
    });
    expect(await running).toMatchObject({ ended: "aborted" });
    expect(await sh("sleep 300", { signal })).toMatchObject({ ended: "aborted" });
  });

  test("is ended by force when it does not listen, with everything it started", async () => {
    const controller = new AbortController();
    const deaf =
      "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & while :; do echo up; sleep 1; done";
    const result = await sh(deaf, {
      signal: controller.signal,
      onStdout: () => controller.abort(),
    });
    expect(result).toMatchObject({ signal: "SIGKILL", ended: "aborted" });
    expect(groupMembers(result.pid)).toEqual([]);
  });

  test("may still say goodbye", async () => {
    const controller = new AbortController();
    const polite = "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done";
    const result = await sh(polite, {
      signal: controller.signal,
      onStdout: () => controller.abort(),
    });
    expect(result).toMatchObject({ stdout: "up\nbye\n", exitCode: 7, ended: "aborted" });
  });
});

describe.concurrent("a command that leaves somebody behind", () => {
  test("ends when it exits, and what it left is ended with it", async () => {
    const started = performance.now();
    const result = await sh("sleep 300 & echo $!");
    expect(result).toMatchObject({ exitCode: 0, ended: "by_itself" });
    expect(performance.now() - started).toBeLessThan(4_000);
    expect(groupMembers(result.pid)).toEqual([]);
  });

  test("is listened to while the one it left still writes, and not for longer", async () => {
    const script =
      "(i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo line $i; sleep 0.05; done; exec sleep 60) &";
    const started = performance.now();
    const { stdout } = await sh(script);
    expect(stdout.trimEnd().split("\n")).toHaveLength(20);
    expect(performance.now() - started).toBeLessThan(8_000);
  });

  test("is not waited for when the one it left never stops writing", async () => {
    const started = performance.now();
    const result = await sh("(while :; do echo more; sleep 0.1; done) &");
    expect(result.exitCode).toBe(0);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(groupMembers(result.pid)).toEqual([]);
  });
});

describe("signals to a group", () => {
  test.each([0, 1, -5, 1.5, Number.NaN])(
    "refuse the number %d, which would reach others",
    (group) => {
      expect(signalGroup(group, 0)).toBe(false);
    },
  );

  test("refuse our own group", () => {
    const own = groupOf(process.pid) ?? 0;
    expect(own).toBeGreaterThan(0);
    expect(signalGroup(own, 0)).toBe(false);
  });
});

test("the output of a command never holds half a character", async () => {
  const file = join(folder(), "text");
  writeFileSync(file, "🎉é€".repeat(50_000));
  const { stdout } = await run({ command: "cat", args: [file] });
  expect(stdout).toBe(readFileSync(file, "utf8"));
});
