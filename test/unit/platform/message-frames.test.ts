import { describe, expect, test } from "vitest";
import { FrameReader, framed } from "../../../src/platform/message-frames.ts";

const MESSAGES = [Buffer.from("one"), Buffer.alloc(0), Buffer.alloc(70_000, 7), Buffer.from("end")];

function read(reader: FrameReader, pieces: readonly Buffer[]): readonly Buffer[] {
  return pieces.flatMap((piece) => [...reader.take(piece)].map((bytes) => Buffer.from(bytes)));
}

function cut(bytes: Buffer, size: number): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

describe("messages in a stream of bytes", () => {
  test.each([1, 2, 5, 8, 4_096, 1_000_000])("are found in pieces of %i bytes", (size) => {
    const bytes = Buffer.concat(MESSAGES.map((message) => framed(message)));
    expect(read(new FrameReader(70_000), cut(bytes, size))).toEqual(MESSAGES);
  });

  test("that are not whole are waited for", () => {
    const reader = new FrameReader(100);
    const frame = Buffer.from(framed(Buffer.from("message")));
    expect(read(reader, [frame.subarray(0, 4)])).toEqual([]);
    expect(read(reader, [frame.subarray(4, 11)])).toEqual([]);
    expect(read(reader, [frame.subarray(11)])).toEqual([Buffer.from("message")]);
  });

  test("may come several in one piece, the last one in half", () => {
    const reader = new FrameReader(100);
    const [one, two] = [framed(Buffer.from("one")), framed(Buffer.from("two"))];
    expect(read(reader, [Buffer.concat([one, two.subarray(0, 6)])])).toEqual([Buffer.from("one")]);
    expect(read(reader, [Buffer.from(two.subarray(6))])).toEqual([Buffer.from("two")]);
  });

  test("are refused over the limit, before their bytes have come", () => {
    const head = Buffer.from([0, 0xff, 0xff, 0xff, 0xff]);
    expect(() => read(new FrameReader(100), [head])).toThrow("at most 100");
    expect(() => read(new FrameReader(3), [Buffer.from(framed(Buffer.alloc(4)))])).toThrow(
      "a message has 4 bytes",
    );
  });

  test("are refused when they are compressed", () => {
    expect(() => read(new FrameReader(100), [Buffer.from([1, 0, 0, 0, 0])])).toThrow("compressed");
  });
});
