import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { systemClock } from "../../platform/clock.ts";
import type { Timer } from "../../platform/clock.ts";
import type { Command } from "./command.ts";
import { CommandLog } from "./command-log.ts";
import type { Print } from "./command-log.ts";
import { liftDataLimit } from "./data-limit.ts";
import { drained } from "./drain.ts";
import { OutputText } from "./output-text.ts";
import { TERM_GRACE_MS, endGroup, groupExists, signalGroup } from "./process-group.ts";
import { startError } from "./start-error.ts";

export interface CommandHooks {
  readonly signal: AbortSignal;
  /** Called once, as soon as there is a process. */
  readonly onSpawn: (pid: number) => void;
  /** Copies what the command prints to the run's log. */
  readonly print: Print;
  readonly onStdout?: (text: string) => void;
}

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  /** The last characters of stderr, also when it was cut. */
  readonly stderrTail: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  readonly truncated: boolean;
  /** Whether it ended by itself, or because its time was over or it was aborted. */
  readonly ended: Ending;
}

type Ending = "by_itself" | "timed_out" | "aborted";

/**
 * Runs one command in a process group of its own and resolves when it, and
 * everything it left in that group, is gone. Rejects with `CommandStartError`
 * when it cannot be started at all.
 */
export async function runCommand(command: Command, hooks: CommandHooks): Promise<CommandResult> {
  const begun = systemClock.monotonic();
  const { child, pid } = await start(command);
  hooks.onSpawn(pid);
  liftDataLimit(pid);
  const exited = exitOf(child);
  const log = new CommandLog(hooks.print);
  const stdout = collect(child.stdout, command.maxOutputChars, (text) => {
    log.add("stdout", text);
    hooks.onStdout?.(text);
  });
  const stderr = collect(child.stderr, command.maxOutputChars, (text) => log.add("stderr", text));
  feed(child, command.stdin);
  const stopping = stopWhenDue(pid, command.timeoutMs, hooks.signal);
  const { exitCode, signal } = await exited;
  const ended = stopping.ending();
  const durationMs = Math.round(systemClock.monotonic() - begun);
  await drained(child);
  if (groupExists(pid)) await endGroup(pid);
  stopping.over();
  log.end(stderr.tail);
  return {
    stdout: stdout.end(),
    stderr: stderr.end(),
    stderrTail: stderr.tail,
    exitCode,
    signal,
    durationMs,
    truncated: stdout.droppedBytes + stderr.droppedBytes > 0,
    ended,
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
}

function start(command: Command): Promise<Started> {
  return new Promise((resolve, reject) => {
    try {
      const child = spawn(command.command, [...command.args], {
        cwd: command.cwd,
        env: { ...command.env },
        // A group of its own is what makes it possible to end all of it.
        detached: true,
        stdio: [command.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
        windowsHide: true,
      });
      child.once("error", (error) => reject(startError(error, command)));
      // Without a pid the error event follows.
      if (child.pid !== undefined) resolve({ child, pid: child.pid });
    } catch (error) {
      reject(startError(error, command));
    }
  });
}

interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** `exit`, not `close`: the pipes may be held open by somebody who was left behind. */
function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

function collect(
  stream: ChildProcess["stdout"],
  maxChars: number,
  onText: (text: string) => void,
): OutputText {
  const output = new OutputText(maxChars);
  stream?.on("data", (chunk: Uint8Array) => {
    const text = output.add(chunk);
    onText(text);
  });
  // A broken pipe ends the output; the exit tells the rest.
  stream?.on("error", () => {});
  return output;
}

function feed(child: ChildProcess, stdin: string | Uint8Array | undefined): void {
  if (stdin === undefined) return;
  // A command need not read its input: that it closes the pipe is no fault.
  child.stdin?.on("error", () => {});
  child.stdin?.end(stdin);
}

interface Stopping {
  /** Why the command ended. */
  ending(): Ending;
  over(): void;
}

/** Ends the group when the time is over or the signal aborts: a request first, then force. */
function stopWhenDue(pid: number, timeoutMs: number | null, signal: AbortSignal): Stopping {
  let cause: Ending = "by_itself";
  const timers: Timer[] = [];
  const stop = (because: Ending): void => {
    if (cause !== "by_itself") return;
    cause = because;
    signalGroup(pid, "SIGTERM");
    timers.push(systemClock.after(TERM_GRACE_MS, () => signalGroup(pid, "SIGKILL")));
  };
  const abort = (): void => stop("aborted");
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  if (timeoutMs !== null) timers.push(systemClock.after(timeoutMs, () => stop("timed_out")));
  return {
    ending: () => cause,
    over: () => {
      signal.removeEventListener("abort", abort);
      for (const timer of timers) timer.cancel();
    },
  };
}
