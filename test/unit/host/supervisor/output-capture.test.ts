import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CAPTURE_HEAD_BYTES as HEAD,
  CAPTURE_TAIL_BYTES as TAIL,
} from "../../../../src/host/limits.ts";
import {
  formatHeader,
  HEADER_BYTES,
  readCaptured,
  readPiece,
} from "../../../../src/host/supervisor/capture-file.ts";
import { OutputCapture } from "../../../../src/host/supervisor/output-capture.ts";
import type { Log } from "../../../../src/platform/log.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

let folder = "";
let file = "";
let clock = new FakeClock();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capture-"));
  file = join(folder, "wrk_1.out");
  clock = new FakeClock();
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const SIZES = [
  0,
  1,
  HEAD - 1,
  HEAD,
  HEAD + 1,
  HEAD + TAIL - 1,
  HEAD + TAIL,
  HEAD + TAIL + 1,
  3 * TAIL,
];

describe("captured output", () => {
  test.each(SIZES)("of %i bytes is what a reader finds, however it was cut into chunks", (size) => {
    const all = bytes(size);
    for (const chunk of [size || 1, 4_093, 70_001]) {
      rmSync(file, { force: true });
      const capture = newCapture();
      capture.keep();
      for (let at = 0; at < size; at += chunk) {
        capture.write(all.subarray(at, at + chunk));
        // Some chunks share a flush, and some flushes have nothing new.
        if (at % 3 === 0) clock.advance(100);
      }
      capture.end();
      expectKept(all);
      expect(capture.text(50)).toBe(all.subarray(-50).toString("latin1"));
    }
  });

  test("is readable at any moment, also when its writer dies between two writes", () => {
    const all = bytes(HEAD + 2 * TAIL);
    const capture = newCapture();
    capture.keep();
    capture.write(all);
    capture.flush();
    // The header that announces the next 1000 bytes is written, the bytes are half there.
    const total = all.length;
    const announced = formatHeader({ total, reserved: total + 1_000 });
    const image = readFileSync(file);
    image.write(announced, 0);
    image.fill("?", HEADER_BYTES + HEAD, HEADER_BYTES + HEAD + 500);
    writeFileSync(file, image);
    const { head, tail, droppedBytes } = readCaptured(file);
    expect(same(head, all.subarray(0, HEAD))).toBe(true);
    expect(same(tail, all.subarray(total - TAIL + 1_000))).toBe(true);
    expect(droppedBytes).toBe(TAIL + 1_000);
    capture.end();
  });

  test("is not believed beyond the end of a file that was cut", () => {
    const capture = newCapture();
    capture.keep();
    capture.write(bytes(1_000));
    capture.end();
    truncateSync(file, HEADER_BYTES + 10);
    expect(readCaptured(file).head).toHaveLength(10);
  });

  test("stays in memory until it is kept, and is then stored from its beginning", () => {
    const capture = newCapture();
    capture.write(Buffer.from("early "));
    clock.advance(10_000);
    expect(readCaptured(file).totalBytes).toBe(0);
    capture.keep();
    capture.write(Buffer.from("late"));
    clock.advance(100);
    expect(Buffer.from(readCaptured(file).head).toString()).toBe("early late");
    capture.end();
  });

  test("that a disk refuses is stored once it takes it, and told of once", () => {
    const events: string[] = [];
    const capture = newCapture(join(folder, "missing/wrk_1.out"), events);
    capture.keep();
    capture.write(Buffer.from("words"));
    clock.advance(10_000);
    expect(events).toEqual(["output.not_stored"]);
    expect(capture.text(100)).toBe("words");
    capture.end();
    expect(clock.pending).toBe(0);
  });

  test("begins with a whole character", () => {
    const capture = newCapture();
    capture.write(Buffer.from("x工具"));
    expect(capture.text(6)).toBe("工具");
    expect(capture.text(5)).toBe("具");
    expect(capture.text(4)).toBe("具");
    expect(capture.text(2)).toBe("");
    expect(capture.text(0)).toBe("");
    expect(capture.text(100)).toBe("x工具");
  });

  test("is read in pieces that follow one another, with what was cut between them", () => {
    const all = bytes(HEAD + 3 * TAIL);
    const capture = newCapture();
    capture.keep();
    capture.write(all);
    capture.end();
    const pieces: Uint8Array[] = [];
    let dropped = 0;
    let from = 0;
    for (;;) {
      const piece = readPiece(file, { from, bytesMax: 100_000 });
      if (piece.data.length === 0) break;
      expect(piece.data.length).toBeLessThanOrEqual(100_000);
      expect(piece.next - from).toBe(piece.data.length + piece.droppedBytes);
      pieces.push(piece.data);
      dropped += piece.droppedBytes;
      from = piece.next;
    }
    expect(from).toBe(all.length);
    expect(dropped).toBe(2 * TAIL);
    const kept = Buffer.concat([all.subarray(0, HEAD), all.subarray(-TAIL)]);
    expect(same(Buffer.concat(pieces), kept)).toBe(true);
  });

  test("tells its readers of news, and of nothing else", () => {
    const capture = newCapture();
    capture.keep();
    let told = 0;
    const stop = capture.onChange(() => {
      told += 1;
    });
    capture.flush();
    expect(told).toBe(0);
    capture.write(Buffer.from("x"));
    capture.flush();
    capture.flush();
    expect(told).toBe(1);
    stop();
    capture.end();
    expect(told).toBe(1);
    capture.onChange(() => {
      told += 1;
    });
    expect(told).toBe(2);
  });
});

function newCapture(path = file, events: string[] = []): OutputCapture {
  return new OutputCapture({ clock, log: recordTo(events), file: path });
}

function expectKept(all: Buffer): void {
  const { head, tail, droppedBytes, totalBytes } = readCaptured(file);
  const rest = all.subarray(HEAD);
  expect(totalBytes).toBe(all.length);
  expect(same(head, all.subarray(0, HEAD))).toBe(true);
  expect(same(tail, rest.subarray(Math.max(0, rest.length - TAIL)))).toBe(true);
  expect(droppedBytes).toBe(Math.max(0, rest.length - TAIL));
}

/** Comparing megabytes by `toEqual` takes longer than all else here. */
function same(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** No two places nearby look alike, so that a byte in the wrong place is seen. */
function bytes(size: number): Buffer {
  const data = Buffer.alloc(size);
  for (let at = 0; at < size; at += 1) data[at] = 33 + ((at ^ (at >> 6) ^ (at >> 13)) % 94);
  return data;
}

function recordTo(events: string[]): Log {
  const add = (event: string): void => {
    events.push(event);
  };
  return { info: add, warn: add, error: add, child: () => recordTo(events) };
}
