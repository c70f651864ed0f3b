/** Records of JSON, one a line, from a stream of bytes that may never end a line. */

/** A longer line is skipped, not kept. */
export const LINE_BYTES_MAX = 1_048_576;

const NEWLINE = 10;

/**
 * Splits at the byte of a newline and at nothing else: the characters that other
 * splitters also take for line ends stand in what models write.
 */
export class JsonLines {
  readonly #onLine: (line: Buffer) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(onLine: (line: Buffer) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end < 0) break;
      this.#take(chunk.subarray(from, end));
      this.#finish();
      from = end + 1;
    }
    this.#take(chunk.subarray(from));
  }

  #take(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > LINE_BYTES_MAX) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  #finish(): void {
    const line = this.#bytes <= LINE_BYTES_MAX ? Buffer.concat(this.#parts) : undefined;
    this.#parts = [];
    this.#bytes = 0;
    if (line !== undefined && line.length > 0) this.#onLine(line);
  }
}
