/**
 * One Pi in RPC mode that the host drives for a headless run: started in a group
 * of its own, read as far as it matters, ended with all that descends from it.
 *
 * Its standard input stays open for as long as the host lives: with the end of
 * the host it ends by itself, and what does not is found by its tag at the next start.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { Child } from "./child.ts";
import type { ChildEnd } from "./child.ts";
import { JsonLines } from "./json-lines.ts";
import { OutputCapture } from "./output-capture.ts";
import { answerTo, PI_QUESTIONS, readPiRecord } from "./pi-records.ts";
import type { PiNews } from "./pi-records.ts";
import type { ProcessTree } from "./process-tree.ts";

export interface PiSpec {
  readonly clock: Clock;
  readonly log: Log;
  readonly tree: Pick<ProcessTree, "end" | "noteDeath">;
  /** `hpi_…`; its environment carries a tag that ends with it. */
  readonly id: string;
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What it told about itself. */
  readonly onNews: (news: PiNews) => void;
  /** Nothing of it is alive any more. Called once. */
  readonly onEnd: (exit: PiExit) => void;
}

export interface PiExit {
  /** How it ended, in words. */
  readonly how: string;
  /** The end of what it complained about; may be empty. */
  readonly lastWords: string;
}

/** Enough for an error and a hint; a whole stack helps nobody. */
const LAST_WORDS_BYTES = 2_048;

export class PiProcess {
  readonly id: string;
  readonly pid: number;
  readonly startTime: string;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
  readonly #spec: PiSpec;
  readonly #child: Child;
  readonly #complaints: OutputCapture;
  readonly #over = Promise.withResolvers<void>();
  #ending: Promise<void> | undefined;
  #burial: Promise<void> | undefined;

  constructor(spec: PiSpec) {
    this.id = spec.id;
    this.#spec = spec;
    this.startedAt = spec.clock.now();
    const { clock, log } = spec;
    // Never kept on disk: what a model says is in its session, and nobody else reads this.
    this.#complaints = new OutputCapture({ clock, log, file: "" });
    const lines = new JsonLines((line) => this.#hear(line));
    this.#child = new Child({
      clock,
      capture: this.#complaints,
      command: spec.command,
      cwd: spec.cwd,
      environment: spec.environment,
      firstLine: PI_QUESTIONS,
      onStdout: (chunk) => lines.push(chunk),
      events: {
        output: () => undefined,
        died: () => this.#died(),
        ended: (end) => void this.#ended(end),
      },
    });
    this.pid = this.#child.pid;
    this.startTime = this.#child.startTime;
  }

  /**
   * Ends it and all that descends from it: SIGTERM, after 2 s SIGKILL. Resolves when
   * that is done and told. A repeat waits too.
   */
  end(): Promise<void> {
    this.#ending ??= this.#endTree();
    return this.#over.promise;
  }

  #hear(line: Buffer): void {
    const record = readPiRecord(line);
    if (record === undefined) return;
    if (record.kind === "dialog") this.#child.writeLine(answerTo(record));
    else if (record.kind === "complaint") this.#complaints.write(Buffer.from(`${record.text}\n`));
    else this.#spec.onNews(record);
  }

  async #endTree(): Promise<void> {
    const { id, pid, startTime } = this;
    if (pid !== 0) await this.#spec.tree.end({ workerId: id, pid, startTime, groups: [] });
  }

  /** What is still in its group in this very moment is its own, also without a tag. */
  #died(): void {
    this.#spec.tree.noteDeath(this.id, this.pid);
    this.#burial = this.#endTree();
  }

  async #ended(end: ChildEnd): Promise<void> {
    await this.#burial;
    await this.#ending;
    this.#spec.onEnd({ how: describe(end), lastWords: this.#lastWords() });
    this.#over.resolve();
  }

  #lastWords(): string {
    return this.#complaints.text(LAST_WORDS_BYTES).trim();
  }
}

function describe({ code, signal, error }: ChildEnd): string {
  if (error !== undefined) return `could not be started: ${error.message}`;
  return signal === undefined ? `exited with code ${code}` : `ended by ${signal}`;
}
