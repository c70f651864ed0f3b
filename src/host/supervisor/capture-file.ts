/**
 * The file that holds a worker's output: its first 64 KiB and its last 1 MiB.
 *
 * A header line of 64 bytes, the head, then a ring. The header tells how many
 * bytes there were in all and up to which byte the ring may already have been
 * overwritten, so that a reader, or a reader after the writer was killed,
 * knows which bytes of the ring to believe.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { CAPTURE_HEAD_BYTES, CAPTURE_TAIL_BYTES } from "../limits.ts";

export const HEADER_BYTES = 64;
const RING_AT = HEADER_BYTES + CAPTURE_HEAD_BYTES;

export interface Extent {
  /** Bytes that were written in all. */
  readonly total: number;
  /** Bytes whose places in the ring are, or are about to be, written. */
  readonly reserved: number;
}

/** What is kept of a worker's output. */
export interface CapturedOutput {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  /** Bytes between head and tail that were cut. */
  readonly droppedBytes: number;
  /** Bytes the worker wrote in all. */
  readonly totalBytes: number;
}

/** A piece of a worker's output. */
export interface OutputPiece {
  readonly data: Uint8Array;
  /** Bytes that were cut right before this piece. */
  readonly droppedBytes: number;
  /** Where the next piece begins, counted in bytes the worker wrote. */
  readonly next: number;
}

const HEADER = /^pi-workflows-output 1 (\d{16}) (\d{16})/;
const WORKER_ID = /^wrk_[0-9a-z]{1,64}$/;

/** The file of a worker's output. Ids come from clients too: nothing else becomes a path. */
export function captureFile(workersDir: string, workerId: string): string {
  if (!WORKER_ID.test(workerId)) throw new Error("this is no id of a worker");
  return join(workersDir, `${workerId}.out`);
}

/** The worker whose output a file of that name keeps; absent for another's file. */
export function workerOfFile(name: string): string | undefined {
  const id = name.replace(/\.out$/, "");
  return id !== name && WORKER_ID.test(id) ? id : undefined;
}

export function formatHeader({ total, reserved }: Extent): string {
  const line = `pi-workflows-output 1 ${digits(total)} ${digits(reserved)}`;
  return `${line.padEnd(HEADER_BYTES - 1)}\n`;
}

function digits(count: number): string {
  return String(count).padStart(16, "0");
}

/** Place of a byte in the file; `offset` counts what the worker wrote. */
export function placeOf(offset: number): number {
  if (offset < CAPTURE_HEAD_BYTES) return HEADER_BYTES + offset;
  return RING_AT + ((offset - CAPTURE_HEAD_BYTES) % CAPTURE_TAIL_BYTES);
}

/** Everything that is kept; empty when there is no such file. */
export function readCaptured(file: string): CapturedOutput {
  const empty = new Uint8Array();
  const nothing = { head: empty, tail: empty, droppedBytes: 0, totalBytes: 0 };
  return withFile(file, nothing, (fd) => {
    const { total } = readExtent(fd);
    const head = readRange(fd, { from: 0, to: Math.min(total, CAPTURE_HEAD_BYTES) });
    const { data: tail } = readTail(fd, { from: CAPTURE_HEAD_BYTES, total });
    const droppedBytes = total - head.length - tail.length;
    return { head, tail, droppedBytes, totalBytes: total };
  });
}

/** What is kept from `from` on, at most `bytesMax` of it; empty at the end. */
export function readPiece(
  file: string,
  { from, bytesMax }: { readonly from: number; readonly bytesMax: number },
): OutputPiece {
  const nothing = { data: new Uint8Array(), droppedBytes: 0, next: from };
  return withFile(file, nothing, (fd) => {
    const { total } = readExtent(fd);
    if (from >= total) return nothing;
    if (from < CAPTURE_HEAD_BYTES) {
      const to = Math.min(total, CAPTURE_HEAD_BYTES, from + bytesMax);
      return { data: readRange(fd, { from, to }), droppedBytes: 0, next: to };
    }
    const kept = readTail(fd, { from, total });
    const data = kept.data.subarray(0, bytesMax);
    return { data, droppedBytes: kept.from - from, next: kept.from + data.length };
  });
}

/** The part of the ring from `from` on that was not overwritten while it was read. */
function readTail(
  fd: number,
  { from, total }: { readonly from: number; readonly total: number },
): { readonly from: number; readonly data: Uint8Array } {
  const start = Math.min(total, firstKept(from, readExtent(fd)));
  const data = readRange(fd, { from: start, to: total });
  const kept = Math.min(total, firstKept(start, readExtent(fd)));
  return { from: kept, data: data.subarray(kept - start) };
}

function firstKept(from: number, { reserved }: Extent): number {
  return Math.max(from, CAPTURE_HEAD_BYTES, reserved - CAPTURE_TAIL_BYTES);
}

function readRange(
  fd: number,
  { from, to }: { readonly from: number; readonly to: number },
): Uint8Array {
  const bytes = Buffer.alloc(Math.max(0, to - from));
  let read = 0;
  while (from + read < to) {
    const place = placeOf(from + read);
    const untilWrap = RING_AT + CAPTURE_TAIL_BYTES - place;
    const want = Math.min(to - from - read, untilWrap);
    const got = readSync(fd, bytes, read, want, place);
    if (got === 0) return bytes.subarray(0, read);
    read += got;
  }
  return bytes;
}

function readExtent(fd: number): Extent {
  const bytes = Buffer.alloc(HEADER_BYTES);
  readSync(fd, bytes, 0, HEADER_BYTES, 0);
  const match = HEADER.exec(bytes.toString("latin1"));
  return { total: Number(match?.[1] ?? 0), reserved: Number(match?.[2] ?? 0) };
}

function withFile<Result>(file: string, absent: Result, read: (fd: number) => Result): Result {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return absent;
    throw error;
  }
  try {
    return read(fd);
  } finally {
    closeSync(fd);
  }
}
