/** The command line as users get it: the bundle, in a process of its own. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import type { CleanUp } from "./real-host.ts";

const ROOT = join(import.meta.dirname, "../..");
export const CLI = join(ROOT, "bin/pi-workflows.cjs");

export interface CliEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly paths: StatePaths;
  /** Where the end of the process is registered; after the test by default. */
  readonly cleanUp?: CleanUp;
  /** What stdin holds; "open" is a pipe that nobody closes. Empty by default. */
  readonly stdin?: { readonly text: string } | "open";
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Another bundle than the built one. */
  readonly entry?: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  readonly end: Promise<CliEnd>;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

export async function runCli(options: CliOptions, ...args: readonly string[]): Promise<CliEnd> {
  return await startCli(options, ...args).end;
}

export function startCli(options: CliOptions, ...args: readonly string[]): RunningCli {
  const command = [process.execPath, options.entry ?? CLI, ...args] as const;
  return watchProcess(options, command);
}

/** Runs a line of a shell in which `$CLI` is the command line, as `$CLI list | head -1`. */
export async function runShell(options: CliOptions, line: string): Promise<CliEnd> {
  const env = { ...options.env, NODE: process.execPath, ENTRY: options.entry ?? CLI };
  const script = `cli() { "$NODE" "$ENTRY" "$@"; }; ${line}`;
  return await watchProcess({ ...options, env }, ["bash", "-c", script]).end;
}

/** Runs a line of a shell on a terminal of its own; what it shows is its stdout. */
export async function runOnTerminal(options: CliOptions, line: string): Promise<CliEnd> {
  return await startOnTerminal(options, line).end;
}

export function startOnTerminal(options: CliOptions, line: string): RunningCli {
  // With `exec` the shell's own signals are out of the way.
  const command = `exec "${process.execPath}" "${options.entry ?? CLI}" ${line}`;
  const env = { TERM: "xterm-256color", ...options.env };
  return watchProcess({ ...options, env }, ["script", "-qec", command, "/dev/null"]);
}

function watchProcess(options: CliOptions, [file, ...args]: readonly string[]): RunningCli {
  const { cleanUp = onTestFinished } = options;
  const child = spawn(file ?? "", args, {
    cwd: options.cwd ?? options.paths.folder,
    env: environment(options),
    stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  cleanUp(() => void child.kill("SIGKILL"));
  if (options.stdin !== undefined && options.stdin !== "open") child.stdin?.end(options.stdin.text);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString("utf8");
  const end = new Promise<CliEnd>((resolve) => {
    child.once("close", (code, signal) => {
      resolve({ code, signal, stdout: text(stdout), stderr: text(stderr) });
    });
  });
  return { child, end, stdout: () => text(stdout), stderr: () => text(stderr) };
}

function environment({ paths, env }: CliOptions): Record<string, string | undefined> {
  return {
    PATH: process.env["PATH"],
    HOME: paths.folder,
    TMPDIR: process.env["TMPDIR"],
    TZ: "UTC",
    PI_WORKFLOWS_HOME: paths.folder,
    ...env,
  };
}
