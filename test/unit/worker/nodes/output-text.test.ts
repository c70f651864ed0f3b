import { describe, expect, test } from "vitest";
import { OutputText } from "../../../../src/worker/nodes/output-text.ts";

function collect(max: number, chunks: readonly Uint8Array[]): OutputText {
  const output = new OutputText(max);
  for (const chunk of chunks) output.add(chunk);
  return output;
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe("the text of an output stream", () => {
  test("keeps characters whole that arrive in pieces", () => {
    const text = "aé€🎉z";
    const single = [...bytes(text)].map((byte) => Uint8Array.of(byte));
    expect(collect(100, single).end()).toBe(text);
  });

  test("replaces what is no UTF-8, also at its end", () => {
    expect(collect(100, [Uint8Array.of(0x61, 0xff), Uint8Array.of(0xe2, 0x82)]).end()).toBe(
      "a\ufffd\ufffd",
    );
  });

  test("is kept whole up to its limit", () => {
    expect(collect(5, [bytes("abc"), bytes("de")]).end()).toBe("abcde");
  });

  test("is cut at its limit with a mark that counts the bytes", () => {
    const output = collect(4, [bytes("abc"), bytes("defé"), bytes("x")]);
    expect(output.end()).toBe("abcd\n[cut: 5 more bytes]");
    expect(output.droppedBytes).toBe(5);
  });

  test("is never cut inside a surrogate pair, and never has a gap", () => {
    const output = collect(2, [bytes("a🎉"), bytes("b")]);
    expect(output.end()).toBe("a\n[cut: 5 more bytes]");
  });

  test("may be cut to nothing", () => {
    expect(collect(0, [bytes("abc")]).end()).toBe("\n[cut: 3 more bytes]");
    expect(collect(0, []).end()).toBe("");
  });

  test("keeps its last characters for an error message", () => {
    const output = collect(3, [bytes("x".repeat(5_000)), bytes("the reason")]);
    expect(output.tail).toHaveLength(2_048);
    expect(output.tail.endsWith("xthe reason")).toBe(true);
  });

  test("stays small while far more arrives than is kept", () => {
    const output = new OutputText(1_000);
    const chunk = bytes("y".repeat(64 * 1024));
    for (let count = 0; count < 500; count += 1) output.add(chunk);
    expect(output.end()).toHaveLength(
      1_000 + `\n[cut: ${500 * 64 * 1024 - 1_000} more bytes]`.length,
    );
  });
});
