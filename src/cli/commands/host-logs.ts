import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { Clock } from "../../platform/clock.ts";
import { integer } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { localTime, safe, shortJson } from "../../platform/text.ts";

const LINES_DEFAULT = 50;
const LINES_MAX = 1_000_000;
const POLL_MS = 250;
const VALUE_CHARS_MAX = 400;

export const command: Command = {
  description: "Shows the end of the host's log. Works without a host.",
  options: {
    lines: { type: "string", value: "N", help: `At most so many lines (${LINES_DEFAULT})` },
    follow: { type: "boolean", help: "Go on with new lines until Ctrl-C" },
  },
  examples: [
    ["host logs", "the newest lines"],
    ["host logs --follow --json", "as they are written, unchanged"],
  ],
  async run(args, cli) {
    const text = args.text("lines");
    const count =
      text === undefined ? LINES_DEFAULT : integer("lines", text, { min: 1, max: LINES_MAX });
    const log = new LogFile(cli.paths().log);
    try {
      await print(cli, log.newLines().slice(-count));
      if (args.flag("follow")) await follow(cli, log);
    } finally {
      log.close();
    }
    return ExitCode.success;
  },
};

/** Reads a file as it grows, and the next one when it was rotated away. */
class LogFile {
  readonly #path: string;
  #file: number | undefined;
  #position = 0;

  constructor(path: string) {
    this.#path = path;
  }

  newLines(): readonly string[] {
    const lines = this.#read();
    if (!this.#isReplaced()) return lines;
    this.close();
    return [...lines, ...this.#read()];
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#position = 0;
  }

  #read(): readonly string[] {
    this.#file ??= open(this.#path);
    if (this.#file === undefined) return [];
    const bytes = Buffer.alloc(Math.max(0, fstatSync(this.#file).size - this.#position));
    const count = readSync(this.#file, bytes, 0, bytes.length, this.#position);
    // A line is complete with its end; what follows the last end waits for the next reading.
    const end = bytes.subarray(0, count).lastIndexOf(0x0a) + 1;
    this.#position += end;
    return bytes
      .toString("utf8", 0, end)
      .split("\n")
      .filter((line) => line !== "");
  }

  #isReplaced(): boolean {
    if (this.#file === undefined) return false;
    const present = statSync(this.#path, { throwIfNoEntry: false });
    return present !== undefined && present.ino !== fstatSync(this.#file).ino;
  }
}

function open(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    // No host has ever run here.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function follow(cli: Cli, log: LogFile): Promise<void> {
  const stop = new AbortController();
  const leave = (): void => stop.abort();
  process.once("SIGINT", leave);
  const signal = AbortSignal.any([stop.signal, cli.out.gone]);
  try {
    while (!signal.aborted) {
      await print(cli, log.newLines());
      await pause(cli.clock, signal);
    }
  } finally {
    process.removeListener("SIGINT", leave);
  }
}

async function print(cli: Cli, lines: readonly string[]): Promise<void> {
  for (const line of lines) await cli.out.flow(`${cli.json ? line : readable(line, cli)}\n`);
}

/** "2025-01-31 09:05:07  warn  event  key=value"; a line that is not the host's stays as it is. */
function readable(line: string, { out }: Cli): string {
  const entry = parse(line);
  if (entry === undefined) return safe(line);
  const { at, level, event, ...fields } = entry;
  const charsMax = out.isTerminal ? VALUE_CHARS_MAX : Number.POSITIVE_INFINITY;
  const when =
    typeof at === "number" || typeof at === "string" ? localTime(new Date(at).getTime()) : "";
  const shown = Object.entries(fields).map(([key, value]) => {
    const text = typeof value === "string" ? safe(value) : shortJson(value, charsMax);
    return `${safe(key)}=${text}`;
  });
  const word = typeof level === "string" ? level : "";
  const colour = word === "error" ? "red" : word === "warn" ? "yellow" : "dim";
  const name = typeof event === "string" ? safe(event) : "";
  return [when, out.style(colour, word.padEnd(5)), out.style("bold", name), ...shown].join("  ");
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // Half a line, written as the machine lost power.
    return undefined;
  }
}

async function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = clock.after(POLL_MS, resolve);
    signal.addEventListener(
      "abort",
      () => {
        timer.cancel();
        resolve();
      },
      { once: true },
    );
  });
}
