/** A child process in a group of its own: what it prints is captured, its end is told once. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { constants, setPriority } from "node:os";
import type { Clock, Timer } from "../../platform/clock.ts";
import { startTimeOf } from "../../platform/process-identity.ts";
import type { OutputCapture } from "./output-capture.ts";
import { signalChild } from "./process-tree.ts";

export interface ChildOptions {
  readonly clock: Clock;
  readonly capture: OutputCapture;
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** Written to its standard input, which then stays open. */
  readonly firstLine: string;
  /** Where it works; by default no project's folder, so that it keeps none from being removed. */
  readonly cwd?: string;
  /** Who reads its standard output, which is then not captured. */
  readonly onStdout?: (chunk: Buffer) => void;
  readonly events: ChildEvents;
}

export interface ChildEvents {
  /** It printed something. */
  output(): void;
  /** It is dead, in this very moment; its output may still be on the way. */
  died(): void;
  /** It is dead and its output is complete. */
  ended(end: ChildEnd): void;
}

export interface ChildEnd {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** Why there never was a process. */
  readonly error: Error | undefined;
}

/**
 * A flood is read at 80 MB/s at most: the pipe then holds the child back, and
 * the host's loop stays free for the others.
 */
const BURST_BYTES = 4 * 1_048_576;
const BURST_MS = 50;
/** Whoever inherited the pipes of a dead child has this long to fall silent, … */
const QUIET_MS = 50;
/** … and this long in all, before the pipes are closed on the host's side. */
const DRAIN_MS = 500;
const NICENESS = constants.priority.PRIORITY_BELOW_NORMAL;

export class Child {
  readonly pid: number;
  /** Empty when there never was a process. */
  readonly startTime: string;
  readonly #options: ChildOptions;
  readonly #process: ChildProcess;
  #burst = 0;
  #burstEnd: Timer | undefined;
  #quiet: Timer | undefined;
  #drain: Timer | undefined;
  #dead: ChildEnd | undefined;
  #ended = false;

  constructor(options: ChildOptions) {
    this.#options = options;
    const [program, ...args] = options.command;
    this.#process = spawn(program, args, {
      cwd: options.cwd ?? "/",
      env: options.environment,
      detached: true,
      windowsHide: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.pid = this.#process.pid ?? 0;
    this.startTime = startTimeOf(this.pid) ?? "";
    this.#listen();
    this.setNiceness(NICENESS);
    if (this.pid !== 0) this.#process.stdin?.write(`${options.firstLine}\n`);
  }

  /** Signals its group. Does nothing once it is dead, when its number may be somebody else's. */
  signal(signal: "SIGTERM" | "SIGKILL"): void {
    if (this.#dead === undefined) signalChild(this.pid, signal);
  }

  /** One more line on its standard input; does nothing once it is dead. */
  writeLine(line: string): void {
    const { stdin } = this.#process;
    if (this.#dead === undefined && stdin?.writable === true) stdin.write(`${line}\n`);
  }

  setNiceness(niceness: number): void {
    if (this.pid === 0 || this.#dead !== undefined) return;
    try {
      setPriority(this.pid, niceness);
    } catch {
      // Priorities are a courtesy: not every platform lets one give way.
    }
  }

  #listen(): void {
    const child = this.#process;
    child.on("error", (error) => {
      // Also told when a signal could not be sent; only without a process is it the end.
      if (child.pid === undefined) this.#die({ code: undefined, signal: undefined, error });
    });
    child.on("exit", (code, signal) => {
      this.#die({ code: code ?? undefined, signal: signal ?? undefined, error: undefined });
    });
    child.on("close", () => this.#end());
    // Without a free file descriptor there are not even pipes.
    // It may end before it has read its line; its exit says enough.
    child.stdin?.on("error", () => undefined);
    const { capture, onStdout = (chunk: Buffer) => capture.write(chunk) } = this.#options;
    child.stdout?.on("data", (chunk: Buffer) => this.#take(chunk, onStdout));
    child.stderr?.on("data", (chunk: Buffer) => this.#take(chunk, (one) => capture.write(one)));
    for (const stream of [child.stdout, child.stderr]) stream?.on("error", () => undefined);
  }

  #take(chunk: Buffer, reader: (chunk: Buffer) => void): void {
    if (this.#ended) return;
    reader(chunk);
    this.#options.events.output();
    if (this.#dead !== undefined) this.#waitForQuiet();
    else this.#holdBack(chunk.length);
  }

  #holdBack(bytes: number): void {
    this.#burst += bytes;
    this.#burstEnd ??= this.#options.clock.after(BURST_MS, () => this.#release());
    if (this.#burst < BURST_BYTES) return;
    this.#process.stdout?.pause();
    this.#process.stderr?.pause();
  }

  #release(): void {
    this.#burstEnd?.cancel();
    this.#burstEnd = undefined;
    this.#burst = 0;
    this.#process.stdout?.resume();
    this.#process.stderr?.resume();
  }

  /** `exit` is the end; `close` would wait for every process that inherited a pipe. */
  #die(end: ChildEnd): void {
    if (this.#dead !== undefined) return;
    this.#dead = end;
    this.#options.events.died();
    this.#release();
    this.#drain = this.#options.clock.after(DRAIN_MS, () => this.#end());
    this.#waitForQuiet();
  }

  #waitForQuiet(): void {
    this.#quiet?.cancel();
    this.#quiet = this.#options.clock.after(QUIET_MS, () => this.#end());
  }

  #end(): void {
    if (this.#ended || this.#dead === undefined) return;
    this.#ended = true;
    for (const timer of [this.#quiet, this.#drain, this.#burstEnd]) timer?.cancel();
    this.#process.stdin?.destroy();
    this.#process.stdout?.destroy();
    this.#process.stderr?.destroy();
    this.#options.capture.end();
    this.#options.events.ended(this.#dead);
  }
}
