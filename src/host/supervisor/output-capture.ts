/**
 * Keeps the beginning and the end of what one worker prints.
 *
 * Memory holds the same bytes as the file, so a disk that is full for a while
 * costs nothing, and one that stays full costs output and never the host. What
 * a flood costs is bounded by the ring and by the pace at which it is written.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { CAPTURE_HEAD_BYTES, CAPTURE_TAIL_BYTES } from "../limits.ts";
import { formatHeader, placeOf } from "./capture-file.ts";

export interface CaptureOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Where the output goes once `keep` was called. */
  readonly file: string;
}

/** Output reaches the disk this late at most: often enough for a reader, seldom enough for a flood. */
const FLUSH_MS = 100;
/** A disk that refused is asked again after this time. */
const RETRY_MS = 1_000;
const FIRST_CAPACITY = 4_096;
/** A character has at most so many bytes after its first. */
const UTF8_REST_BYTES_MAX = 3;

export class OutputCapture {
  readonly #options: CaptureOptions;
  #head = new Ring(CAPTURE_HEAD_BYTES);
  #tail = new Ring(CAPTURE_TAIL_BYTES);
  #total = 0;
  #stored = 0;
  #kept = false;
  #ended = false;
  #failed = false;
  #fd: number | undefined;
  #timer: Timer | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(options: CaptureOptions) {
    this.#options = options;
  }

  /** Bytes the worker wrote so far. */
  get totalBytes(): number {
    return this.#total;
  }

  get ended(): boolean {
    return this.#ended;
  }

  write(chunk: Uint8Array): void {
    if (this.#ended) return;
    const toHead = Math.max(0, Math.min(chunk.length, CAPTURE_HEAD_BYTES - this.#total));
    this.#head.push(chunk.subarray(0, toHead));
    this.#tail.push(chunk.subarray(toHead));
    this.#total += chunk.length;
    this.#arm(FLUSH_MS);
  }

  /** From now on the file holds what memory holds, beginning with what there is. */
  keep(): void {
    this.#kept = true;
    this.#arm(0);
  }

  /** The end of the output as text, begun at a whole character. */
  text(bytes: number): string {
    const from = Math.max(this.#total - bytes, 0);
    const data = Buffer.concat([
      this.#head.slice(Math.min(from, this.#head.total)),
      this.#tail.slice(Math.max(0, from - CAPTURE_HEAD_BYTES)),
    ]);
    return data.toString("utf8", from === 0 ? 0 : brokenBytes(data));
  }

  /** Writes what the file lacks. Safe to call at any time. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (!this.#kept) return;
    const before = this.#stored;
    try {
      this.#store();
      this.#failed = false;
    } catch (error) {
      this.#refused(error);
    }
    // Readers flush too: telling them of nothing would let two of them wake each other for ever.
    if (this.#stored !== before) this.#tell();
  }

  /** The worker is gone: stores what can be stored, frees the rest. A repeat does nothing. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.flush();
    this.#timer?.cancel();
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#tell();
    this.#listeners.clear();
  }

  /** Called after each write to the file and at the end, until the returned function is called. */
  onChange(listener: () => void): () => void {
    if (this.#ended) listener();
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #arm(delayMs: number): void {
    if (!this.#kept || this.#ended || this.#timer !== undefined) return;
    this.#timer = this.#options.clock.after(delayMs, () => this.flush());
  }

  #store(): void {
    // Created anew: an id is never used twice, so what is there is not ours.
    this.#fd ??= openSync(this.#options.file, "w", 0o600);
    if (this.#stored === this.#total) return;
    const lost = Math.max(this.#stored, this.#total - CAPTURE_TAIL_BYTES);
    this.#writeHeader(this.#stored);
    if (this.#stored < CAPTURE_HEAD_BYTES) {
      writeAt(this.#fd, this.#head.slice(this.#stored), placeOf(this.#stored));
    }
    const from = Math.max(lost, CAPTURE_HEAD_BYTES);
    const data = this.#tail.slice(Math.max(0, from - CAPTURE_HEAD_BYTES));
    const first = CAPTURE_TAIL_BYTES - ((from - CAPTURE_HEAD_BYTES) % CAPTURE_TAIL_BYTES);
    writeAt(this.#fd, data.subarray(0, first), placeOf(from));
    writeAt(this.#fd, data.subarray(first), placeOf(CAPTURE_HEAD_BYTES));
    this.#writeHeader(this.#total);
    this.#stored = this.#total;
  }

  #writeHeader(total: number): void {
    if (this.#fd === undefined) return;
    writeAt(this.#fd, Buffer.from(formatHeader({ total, reserved: this.#total })), 0);
  }

  #refused(error: unknown): void {
    if (!this.#failed) {
      this.#options.log.warn("output.not_stored", { file: this.#options.file, error });
    }
    this.#failed = true;
    this.#arm(RETRY_MS);
  }
}

/** The newest bytes of a stream; memory grows with need, up to the capacity. */
class Ring {
  /** Bytes that were pushed in all. */
  total = 0;
  readonly #capacity: number;
  #bytes = Buffer.alloc(0);

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#grow(this.total + chunk.length);
    const newest = chunk.subarray(Math.max(0, chunk.length - this.#bytes.length));
    const at = (this.total + chunk.length - newest.length) % this.#bytes.length;
    const first = newest.subarray(0, this.#bytes.length - at);
    this.#bytes.set(first, at);
    this.#bytes.set(newest.subarray(first.length), 0);
    this.total += chunk.length;
  }

  /** What is kept from this byte of the stream on. */
  slice(from: number): Buffer {
    const start = Math.max(from, this.total - this.#bytes.length);
    if (start >= this.total) return Buffer.alloc(0);
    const at = start % this.#bytes.length;
    const length = this.total - start;
    const first = this.#bytes.subarray(at, Math.min(at + length, this.#bytes.length));
    return Buffer.concat([first, this.#bytes.subarray(0, length - first.length)]);
  }

  /** Until the capacity is reached nothing has wrapped, so the bytes keep their places. */
  #grow(needed: number): void {
    const size = this.#bytes.length;
    if (needed <= size || size === this.#capacity) return;
    const larger = Buffer.alloc(
      Math.min(this.#capacity, Math.max(FIRST_CAPACITY, size * 2, needed)),
    );
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}

/** Bytes at the beginning that belong to a character whose first byte was cut off. */
function brokenBytes(data: Uint8Array): number {
  let count = 0;
  while (count < UTF8_REST_BYTES_MAX && isContinuation(data[count])) count += 1;
  return count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function writeAt(fd: number, data: Uint8Array, position: number): void {
  let written = 0;
  while (written < data.length) {
    written += writeSync(fd, data, written, data.length - written, position + written);
  }
}
