/**
 * gRPC's framing of messages in a stream of bytes: a flag, which says whether
 * the message is compressed, four bytes of length, and the message.
 */

const HEAD_BYTES = 5;

/** The bytes of a message with its frame. */
export function framed(message: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

/** Finds the messages in a stream of bytes, however it was cut into pieces. */
export class FrameReader {
  readonly #messageBytesMax: number;
  #pieces: Buffer[] = [];
  #held = 0;
  /** Held bytes with which something can be done. */
  #needed = HEAD_BYTES;

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax;
  }

  /** The messages that are whole now. Throws on what is no message of ours; nothing is read after. */
  *take(piece: Buffer): Generator<Uint8Array> {
    this.#pieces.push(piece);
    this.#held += piece.length;
    while (this.#held >= this.#needed) {
      const [only = piece] = this.#pieces;
      const bytes = this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces);
      const end = HEAD_BYTES + this.#lengthIn(bytes);
      const isWhole = bytes.length >= end;
      const rest = isWhole ? bytes.subarray(end) : bytes;
      this.#pieces = rest.length === 0 ? [] : [rest];
      this.#held = rest.length;
      this.#needed = isWhole ? HEAD_BYTES : end;
      if (isWhole) yield bytes.subarray(HEAD_BYTES, end);
    }
  }

  #lengthIn(bytes: Buffer): number {
    const length = bytes.readUInt32BE(1);
    if (bytes[0] !== 0) throw new RangeError("a message is compressed");
    if (length <= this.#messageBytesMax) return length;
    throw new RangeError(
      `a message has ${length} bytes, at most ${this.#messageBytesMax} are taken`,
    );
  }
}
