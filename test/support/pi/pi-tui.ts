/** Drives Pi as a person sees it: in a terminal of tmux, read by its text and written by its keys. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { piCommand, piEnvironment } from "./pi-launch.ts";
import type { LaunchOptions } from "./pi-launch.ts";
import { until } from "./until.ts";

const COLUMNS = 100;
const ROWS = 36;
/** Printed by the shell around Pi; a person would see their prompt again. */
const EXIT_LINE = /^PI-EXIT (\d+)$/m;

/** The rules above and below the editor; the lower one may tell how much lies below. */
const RULE = /^─{3}/;
/** The chosen one of the completions below the editor. */
const COMPLETION = /^→ /m;

type CleanUp = (run: () => Promise<void> | void) => void;

export interface TuiOptions extends LaunchOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** What the screen shows once Pi is ready; the model's name by default. */
  readonly ready?: string | RegExp;
  readonly cleanUp?: CleanUp;
}

/** Why no terminal can be had; undefined when tests with one can run. */
export function terminalMissing(): string | undefined {
  const { status } = spawnSync("tmux", ["-V"], { stdio: "ignore" });
  return status === 0 ? undefined : "tmux is not installed";
}

/** Starts Pi in a terminal of its own, which is gone after the test. */
export async function startTui(options: TuiOptions): Promise<Tui> {
  const { cleanUp = onTestFinished, ready = "scripted" } = options;
  const tui = new Tui(options);
  cleanUp(() => tui.close());
  await tui.sees(ready);
  return tui;
}

export class Tui {
  readonly #socket: string;

  constructor(options: TuiOptions) {
    const { profile, columns = COLUMNS, rows = ROWS } = options;
    this.#socket = join(profile.folder, "tmux.sock");
    const script = join(profile.folder, "terminal.sh");
    writeFileSync(script, shellScript(options));
    const size = ["-x", String(columns), "-y", String(rows)];
    this.#tmux("-f", "/dev/null", "new-session", "-d", ...size, "sh", script);
    // Without it, tmux sends some keys with ctrl and shift as plain ones.
    this.#tmux("set-option", "-g", "extended-keys", "on");
  }

  /** The text of the screen, without colours. */
  screen(): string {
    return this.#tmux("capture-pane", "-p");
  }

  /** Waits until the screen shows this text; returns the screen. */
  async sees(text: string | RegExp, timeoutMs?: number): Promise<string> {
    const shows = (screen: string): boolean =>
      typeof text === "string" ? screen.includes(text) : text.test(screen);
    return await this.#waitFor(shows, { what: `"${text}" on the screen`, timeoutMs });
  }

  /** Waits until the screen no longer shows this text; returns the screen. */
  async seesNo(text: string, timeoutMs?: number): Promise<string> {
    const gone = (screen: string): boolean => !screen.includes(text);
    return await this.#waitFor(gone, { what: `no "${text}" on the screen`, timeoutMs });
  }

  /** Types a text, letter by letter as far as Pi can tell. */
  type(text: string): void {
    this.#tmux("send-keys", "-l", "--", text);
  }

  /** Presses keys by tmux's names: Enter, Escape, Tab, Up, C-c, C-S-y. */
  press(...keys: readonly string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  /** What stands in the editor, between the two lowest rules. */
  editor(screen = this.screen()): string {
    const lines = screen.split("\n");
    const bottom = lines.findLastIndex((line) => RULE.test(line));
    const top = lines.slice(0, Math.max(bottom, 0)).findLastIndex((line) => RULE.test(line));
    return lines
      .slice(top + 1, Math.max(bottom, 0))
      .join("\n")
      .trim();
  }

  /**
   * Types one line and sends it. Completions open below the editor while one
   * types, and swallow the first Enter: they are closed before.
   */
  async say(line: string): Promise<void> {
    this.type(line);
    await this.#waitFor((screen) => this.editor(screen) === line, { what: `"${line}" typed` });
    await this.#waitFor((screen) => this.#send(screen), { what: `"${line}" sent` });
  }

  /** Quits as a person does, and returns Pi's exit code. */
  async quit(): Promise<number> {
    await this.say("/quit");
    return await this.exitCode();
  }

  /** The exit code, once Pi has ended; the screen still shows what it said last. */
  async exitCode(timeoutMs?: number): Promise<number> {
    return Number(EXIT_LINE.exec(await this.sees(EXIT_LINE, timeoutMs))?.[1]);
  }

  /** Takes the terminal away, as when its window is closed. */
  close(): void {
    spawnSync("tmux", ["-S", this.#socket, "kill-server"], { stdio: "ignore" });
  }

  /** One key towards an empty editor; true once it is empty. */
  #send(screen: string): boolean {
    if (this.editor(screen) === "" || EXIT_LINE.test(screen)) return true;
    this.press(COMPLETION.test(screen) ? "Escape" : "Enter");
    return false;
  }

  async #waitFor(
    fits: (screen: string) => boolean,
    { what, timeoutMs }: { readonly what: string; readonly timeoutMs?: number | undefined },
  ): Promise<string> {
    let screen = "";
    const look = (): string | false => {
      screen = this.screen();
      return fits(screen) && screen;
    };
    return await until(look, { timeoutMs, what: () => `${what}; it shows:\n${screen}` });
  }

  #tmux(...args: readonly string[]): string {
    const options = { encoding: "utf8", env: { PATH: process.env["PATH"] } } as const;
    const { status, stdout, stderr } = spawnSync("tmux", ["-S", this.#socket, ...args], options);
    if (status !== 0) throw new Error(`tmux ${args[0]} failed with ${status}: ${stderr}`);
    return stdout;
  }
}

/** After the end of Pi the terminal stays, so that a crash can be read. */
function shellScript(options: TuiOptions): string {
  const environment = { ...piEnvironment(options), TERM: "xterm-256color" };
  const assignments = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const command = ["env", "-i", ...assignments, ...piCommand(options)].map(quoted).join(" ");
  const folder = quoted(options.cwd ?? options.profile.project);
  return `cd ${folder}\n${command}\necho "PI-EXIT $?"\nread -r _\n`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
