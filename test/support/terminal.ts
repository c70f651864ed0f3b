/**
 * A person at a terminal: sees what the command line shows, and types. The terminal is that of
 * script(1) as util-linux has it, which every Linux distribution installs.
 */
import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { vi } from "vitest";
import { startOnTerminal } from "./cli-process.ts";
import type { CliOptions, RunningCli } from "./cli-process.ts";

const PATIENCE_MS = 60_000;

export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";

/** What the title of such tests says, so that nobody wonders why they were left out. */
export const NEEDS_TERMINAL = "on a terminal of util-linux's script(1)";

export function hasTerminal(): boolean {
  const { stdout, status } = spawnSync("script", ["--version"], { encoding: "utf8" });
  return status === 0 && stdout.includes("util-linux");
}

export class Terminal {
  readonly #cli: RunningCli;
  #seen = 0;

  constructor(options: Omit<CliOptions, "stdin">, line: string) {
    this.#cli = startOnTerminal({ ...options, stdin: "open" }, line);
  }

  /** All that was shown so far, as lines of plain text. */
  get text(): string {
    return stripVTControlCharacters(this.#cli.stdout()).replaceAll("\r", "");
  }

  /** Waits until this stands on the screen, below what was waited for before. */
  async shows(words: string): Promise<void> {
    try {
      await vi.waitUntil(() => this.text.indexOf(words, this.#seen) >= 0, {
        timeout: PATIENCE_MS,
        interval: 10,
      });
    } catch {
      throw new Error(
        `"${words}" was never shown; the screen ends with:\n${this.text.slice(-2000)}`,
      );
    }
    this.#seen = this.text.indexOf(words, this.#seen) + words.length;
  }

  /** What a key sends, or a word; Enter is "\r". */
  type(keys: string): void {
    this.#cli.child.stdin?.write(keys);
  }

  /** The exit code, once the program has ended by itself. */
  async exitCode(): Promise<number | null> {
    const { code } = await this.#cli.end;
    return code;
  }
}
