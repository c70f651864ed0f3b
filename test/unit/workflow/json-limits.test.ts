import { describe, expect, test } from "vitest";
import {
  JSON_BYTES_MAX,
  JSON_DEPTH_MAX,
  JsonValueError,
  toJson,
  utf8Bytes,
} from "../../../src/workflow/json.ts";
import type { JsonProblem } from "../../../src/workflow/json.ts";

/** The refusal as `problem path: reason`, or a failure of the test when the value is accepted. */
function refusal(value: unknown): { problem: JsonProblem; message: string } {
  try {
    toJson(value, "outputs.plan");
  } catch (error) {
    if (error instanceof JsonValueError) return { problem: error.problem, message: error.message };
    throw error;
  }
  throw new Error("the value was accepted");
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { v: value };
  return value;
}

/** One of everything that JSON text is made of, around a text of a chosen length. */
function filled(length: number): unknown {
  return { key: ["x".repeat(length), 1, true, null, {}, []] };
}

describe("a value without measure", () => {
  test("is accepted at the depth limit and refused below it", () => {
    expect(() => toJson(nested(JSON_DEPTH_MAX), "x")).not.toThrow();
    expect(refusal(nested(JSON_DEPTH_MAX + 1)).problem).toBe("too_deep");
  });

  test("is refused without exhausting the stack, however deep it is", () => {
    const { problem, message } = refusal(nested(1_000_000));
    expect(problem).toBe("too_deep");
    expect(message).toContain("nested deeper than 500 levels");
  });

  test.each<[string, string]>([
    ["ASCII", "x"],
    ["two bytes", "é"],
    ["three bytes", "€"],
    ["four bytes", "🎉"],
    ["escaped", "\n"],
    ["escaped as \\u", "\u0001"],
  ])("is measured in bytes of its JSON text: %s", (_name, unit) => {
    const bytes = Buffer.byteLength(JSON.stringify(unit)) - 2;
    const fits = unit.repeat(Math.floor((JSON_BYTES_MAX - 2) / bytes));
    expect(() => toJson(fits, "x")).not.toThrow();
    expect(refusal(fits + unit)).toEqual({
      problem: "too_large",
      message: "outputs.plan: larger than 8 MiB; write a file and return its path",
    });
  });

  test("is measured with its brackets, separators and keys", () => {
    const overhead = Buffer.byteLength(JSON.stringify(filled(0)));
    expect(() => toJson(filled(JSON_BYTES_MAX - overhead), "x")).not.toThrow();
    expect(refusal(filled(JSON_BYTES_MAX - overhead + 1)).problem).toBe("too_large");
  });

  test("is refused early when few objects stand for exponentially many", () => {
    let value: unknown = ["x".repeat(2_000)];
    for (let level = 0; level < 60; level += 1) value = [value, value];
    expect(refusal(value).problem).toBe("too_large");
  });
});

describe("utf8Bytes", () => {
  test.each(["", "abc", "é€🎉", "\ud800", "a\udc00b", "🎉🎉"])(
    "counts as Buffer does: %j",
    (text) => {
      expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
    },
  );
});
