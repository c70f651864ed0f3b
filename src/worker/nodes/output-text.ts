import { StringDecoder } from "node:string_decoder";

/** How much of the end is kept for an error message, whatever was cut. */
const TAIL_MAX = 2_048;

/**
 * The text of one output stream, bounded while it arrives: the beginning is
 * kept, the rest is counted. Characters that are split between two chunks stay
 * whole.
 */
export class OutputText {
  readonly #max: number;
  readonly #decoder = new StringDecoder("utf8");
  readonly #pieces: string[] = [];
  #kept = 0;
  #droppedBytes = 0;
  #tail = "";

  constructor(maxChars: number) {
    this.#max = maxChars;
  }

  /** Takes a chunk and returns its text. */
  add(chunk: Uint8Array): string {
    return this.#take(this.#decoder.write(Buffer.from(chunk)));
  }

  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  /** Ends the stream and returns what was kept of it, with a mark where it was cut. */
  end(): string {
    this.#take(this.#decoder.end());
    const kept = this.#pieces.join("");
    if (this.#droppedBytes === 0) return kept;
    return `${kept}\n[cut: ${this.#droppedBytes} more bytes]`;
  }

  /** The last characters, cut or not. */
  get tail(): string {
    return this.#tail;
  }

  #take(text: string): string {
    if (text === "") return text;
    this.#tail = (this.#tail + text.slice(-TAIL_MAX)).slice(-TAIL_MAX).toWellFormed();
    const room = this.#max - this.#kept;
    const kept = text.length <= room ? text : wholeCharacters(text, room);
    if (kept !== "") this.#pieces.push(kept);
    this.#kept += kept.length;
    // After the first cut nothing more is kept, so that what is kept has no gap.
    if (kept.length < text.length) this.#drop(text.slice(kept.length));
    return text;
  }

  #drop(text: string): void {
    this.#kept = this.#max;
    this.#droppedBytes += Buffer.byteLength(text);
  }
}

/** The first `count` units of a text, one less where that would split a surrogate pair. */
function wholeCharacters(text: string, count: number): string {
  if (count <= 0) return "";
  const last = text.charCodeAt(count - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? count - 1 : count);
}
