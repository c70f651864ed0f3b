/**
 * What the program says. Results go to stdout, everything said beside them to
 * stderr. A reader that went away ends the program in silence.
 */
import { styleText } from "node:util";
import type { Writable } from "node:stream";

export type Format = Parameters<typeof styleText>[0];
/** Colours a text where colour is wanted; the text must be safe already. */
export type Style = (format: Format, text: string) => string;

interface Stream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  getColorDepth?(): number;
}

const COLUMNS_DEFAULT = 80; // of a terminal that does not tell
const ROWS_DEFAULT = 24;

export class Output {
  readonly #stdout: Stream;
  readonly #stderr: Stream;
  readonly #gone = new AbortController();
  #failure: NodeJS.ErrnoException | undefined;

  constructor(stdout: Stream, stderr: Stream) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    stdout.on("error", (error: NodeJS.ErrnoException) => this.#lose(error));
    // Nobody reads what is said beside the result: the result still counts.
    stderr.on("error", () => undefined);
  }

  /** Aborted when nobody reads stdout any more: there is nothing left to do. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Why stdout could not be written, unless its reader simply went away. */
  get failure(): NodeJS.ErrnoException | undefined {
    return this.#failure;
  }

  get isTerminal(): boolean {
    return this.#stdout.isTTY === true;
  }

  /** True when a picture can be drawn over: not on a dumb terminal, and not without colours. */
  get canRedraw(): boolean {
    return this.isTerminal && (this.#stdout.getColorDepth?.() ?? 1) > 1;
  }

  /** Where lines are cut: nowhere but on a terminal, because files and pipes want all of it. */
  get columns(): number {
    return this.isTerminal
      ? sizeOf(this.#stdout.columns, COLUMNS_DEFAULT)
      : Number.POSITIVE_INFINITY;
  }

  get rows(): number {
    return sizeOf(this.#stdout.rows, ROWS_DEFAULT);
  }

  readonly style: Style = (format, text) =>
    this.isTerminal ? styleText(format, text, { stream: this.#stdout }) : text;

  line(text = ""): void {
    this.raw(`${text}\n`);
  }

  lines(texts: Iterable<string>): void {
    for (const text of texts) this.line(text);
  }

  /** One JSON document on one line. */
  json(value: unknown): void {
    this.raw(`${JSON.stringify(value)}\n`);
  }

  raw(data: string | Uint8Array): void {
    if (!this.#gone.signal.aborted) this.#stdout.write(data);
  }

  /** As `raw`, and waits until the reader has room for more. */
  async flow(data: string | Uint8Array): Promise<void> {
    if (this.#gone.signal.aborted || this.#stdout.write(data)) return;
    await new Promise<void>((resolve) => {
      this.#stdout.once("drain", resolve);
      this.#gone.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Something said beside the result. */
  note(text: string): void {
    this.#stderr.write(`${text}\n`);
  }

  #lose(error: NodeJS.ErrnoException): void {
    if (error.code !== "EPIPE") this.#failure ??= error;
    this.#gone.abort();
  }
}

/** A terminal that was never told its size says 0. */
function sizeOf(told: number | undefined, otherwise: number): number {
  return told === undefined || told === 0 ? otherwise : told;
}
