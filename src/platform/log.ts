/** The host's own log: one JSON object a line, rotated, and never a reason to fail. */
import {
  closeSync,
  fstatSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from "node:fs";
import type { Clock } from "./clock.ts";

export type LogFields = Readonly<Record<string, unknown>>;
type Level = "info" | "warn" | "error";

export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** The same log with fields that every line then carries. */
  child(fields: LogFields): Log;
}

export interface LogOptions {
  /** Size at which a new file begins. */
  readonly maxBytes: number;
  /** Older files kept, `<file>.1` being the newest of them. */
  readonly keep: number;
}

/** One line is bounded, so that a large error cannot push everything else out. */
const LINE_CHARS_MAX = 16_384;

/**
 * Opens the log for appending. No method ever throws: what cannot be written is
 * counted, and the count is the first thing written once the disk takes it again.
 */
export function openLog(file: string, clock: Clock, options: LogOptions): Log {
  const sink = new RotatingFile(file, options);
  return logTo((level, event, fields) => {
    if (sink.dropped > 0) {
      const at = clock.now();
      const line = formatLine({ at, level: "warn", event: "log.dropped" }, { lines: sink.dropped });
      if (!sink.append(line, { counts: false })) {
        sink.dropped += 1;
        return;
      }
      sink.dropped = 0;
    }
    sink.append(formatLine({ at: clock.now(), level, event }, fields), { counts: true });
  }, {});
}

function logTo(
  write: (level: Level, event: string, fields: LogFields) => void,
  own: LogFields,
): Log {
  const at =
    (level: Level) =>
    (event: string, fields: LogFields = {}): void =>
      write(level, event, { ...own, ...fields });
  return {
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => logTo(write, { ...own, ...fields }),
  };
}

function formatLine(
  head: { readonly at: number; readonly level: Level; readonly event: string },
  fields: LogFields,
): string {
  const start = { at: new Date(head.at).toISOString(), level: head.level, event: head.event };
  try {
    const line = JSON.stringify({ ...start, ...fields, ...start }, printable);
    if (line.length <= LINE_CHARS_MAX) return `${line}\n`;
    const text = line.slice(0, LINE_CHARS_MAX / 2);
    return `${JSON.stringify({ ...start, cutFromChars: line.length, text })}\n`;
  } catch (error) {
    return `${JSON.stringify({ ...start, unprintable: String(error) })}\n`;
  }
}

function printable(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  const code: unknown = "code" in value ? value.code : undefined;
  return { name, message, code, stack, cause };
}

class RotatingFile {
  dropped = 0;
  readonly #file: string;
  readonly #options: LogOptions;
  #fd: number | undefined;
  #bytes = 0;

  constructor(file: string, options: LogOptions) {
    this.#file = file;
    this.#options = options;
  }

  append(line: string, { counts }: { readonly counts: boolean }): boolean {
    try {
      this.#makeRoom(Buffer.byteLength(line));
      this.#fd ??= this.#open();
      this.#bytes += writeSync(this.#fd, line);
      return true;
    } catch {
      this.#close();
      if (counts) this.dropped += 1;
      return false;
    }
  }

  #open(): number {
    const fd = openSync(this.#file, "a", 0o600);
    this.#bytes = fstatSync(fd).size;
    return fd;
  }

  #makeRoom(lineBytes: number): void {
    this.#fd ??= this.#open();
    if (this.#bytes === 0 || this.#bytes + lineBytes <= this.#options.maxBytes) return;
    this.#close();
    const { keep } = this.#options;
    try {
      for (let number = keep - 1; number >= 0; number -= 1) this.#shift(number);
      if (keep === 0) rmSync(this.#file, { force: true });
    } catch {
      // What is newest is worth more than what cannot be moved away.
      truncateSync(this.#file);
    }
  }

  #shift(number: number): void {
    const from = number === 0 ? this.#file : `${this.#file}.${number}`;
    try {
      renameSync(from, `${this.#file}.${number + 1}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }

  #close(): void {
    if (this.#fd === undefined) return;
    try {
      closeSync(this.#fd);
    } catch {
      // The descriptor is gone either way.
    }
    this.#fd = undefined;
  }
}
