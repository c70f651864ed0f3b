import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AttemptStatus } from "../../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import {
  bytes,
  duration,
  fromNow,
  plural,
  prettyJson,
  safe,
  safeLines,
  word,
} from "../../../src/platform/text.ts";
import { problemLine } from "../../../src/cli/report-error.ts";
import { cutLine, table, tableOrRecords } from "../../../src/cli/table.ts";
import { ProblemSchema } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";

describe("text for a terminal", () => {
  test.each([
    ["\u001b[31mred\u001b[0m", "\\x1b[31mred\\x1b[0m"],
    ["a\u0000b\u0007", "a\\x00b\\x07"],
    ["two\nlines\tand\r", "two\\nlines\\tand\\r"],
    ["\u009b31m", "\\x9b31m"],
    ["user\u202etxt.exe", "user\\u202etxt.exe"],
    ["\u200bhidden\ufeff", "\\u200bhidden\\ufeff"],
    ["é 工 🎉 stay", "é 工 🎉 stay"],
  ])("%j is shown as %s", (text, shown) => {
    expect(safe(text)).toBe(shown);
  });

  test("keeps its line breaks where lines are wanted", () => {
    expect(safeLines("a\r\nb\tc\u001b]0;x\u0007")).toBe("a\nb\tc\\x1b]0;x\\x07");
  });

  test("stays JSON when it is JSON", () => {
    const value = { "k\u001b": "a\u009bb\u202e\n" };
    const text = prettyJson(value);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(JSON.parse(text)).toEqual(value);
  });
});

describe("words for numbers", () => {
  test.each([
    [0, "0.0 s"],
    [-5, "0.0 s"],
    [450, "0.4 s"],
    [9_999, "9.9 s"],
    [12_345, "12 s"],
    [185_000, "3 min 5 s"],
    [8_040_000, "2 h 14 min"],
    [273_600_000, "3 d 4 h"],
  ])("%d ms last %s", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  test("say how far away a time is", () => {
    expect(fromNow(0, 59_999)).toBe("59 s ago");
    expect(fromNow(3_600_000, 0)).toBe("in 1 h");
    expect(fromNow(0, 0)).toBe("0 s ago");
    expect(fromNow(599_900, 0)).toBe("in 10 min");
    expect(fromNow(59_900, 0)).toBe("in 1 min");
    expect(fromNow(7_140_000, 0)).toBe("in 1 h 59 min");
    expect(fromNow(1, 0)).toBe("in 1 s");
  });

  test("count bytes and things", () => {
    expect([0, 1023, 1536, 5 * 2 ** 30].map(bytes)).toEqual([
      "0 B",
      "1023 B",
      "1.5 KiB",
      "5.0 GiB",
    ]);
    expect([plural(1n, "run"), plural(0, "run"), plural(2, "run")]).toEqual([
      "1 run",
      "0 runs",
      "2 runs",
    ]);
  });

  test("name an enum's value, also one of a newer version", () => {
    expect(word(AttemptStatus, AttemptStatus.TIMED_OUT)).toBe("timed_out");
    expect(word(AttemptStatus, 99)).toBe("unknown (99)");
  });
});

describe("a table", () => {
  test("lines up, also with wide letters", async () => {
    const rows = [
      ["NAME", "N", "WHAT"],
      ["日本語", "7", "x"],
      ["ab", "12", "y"],
    ];
    expect(await table(rows, { columns: 80, right: [1] })).toEqual([
      "NAME     N  WHAT",
      "日本語   7  x",
      "ab      12  y",
    ]);
  });

  test("is cut at the last column alone, and never to nothing", async () => {
    const rows = [["run_1234567890", "a title that does not fit at all"]];
    expect(await table(rows, { columns: 30 })).toEqual(["run_1234567890  a title that …"]);
    expect(await table(rows, { columns: 1 })).toEqual(["run_1234567890  a title tha…"]);
  });

  test("that fits is a table, and otherwise keeps what did not fit below each row", async () => {
    const rows = [
      ["eff_1", "ambiguous", "manual", "key-1"],
      ["eff_22", "pending", "idempotent", ""],
    ];
    const heads = ["EFFECT", "STATUS", "POLICY", "KEY"];
    expect(await tableOrRecords(rows, { columns: 80, first: 2, heads })).toEqual([
      "EFFECT  STATUS     POLICY      KEY",
      "eff_1   ambiguous  manual      key-1",
      "eff_22  pending    idempotent",
    ]);
    expect(await tableOrRecords(rows, { columns: 20, first: 2, heads })).toEqual([
      "EFFECT  STATUS",
      "eff_1   ambiguous",
      "  policy  manual",
      "  key     key-1",
      "eff_22  pending",
      "  policy  idempotent",
    ]);
  });
});

describe("a line that must not reach the edge", () => {
  test.each([
    ["short", 5, "short"],
    ["longer", 5, "long…"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["\u001b[31mred line\u001b[39m end", 6, "\u001b[31mred l…\u001b[39m"],
    ["\u001b[31mred\u001b[39m", 3, "\u001b[31mred\u001b[39m"],
    ["👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3, "👨‍👩‍👧‍👦…"],
  ])("%j in %d columns is %j", async (line, columns, cut) => {
    expect(await cutLine(line, columns)).toBe(cut);
  });
});

describe("a problem", () => {
  test.each([
    ["maxStep", "unknown field; the nearest known field is maxSteps", true],
    ["nodes.a", "node nodes.a leads nowhere", false],
    ["startAt", "startAt names no node", false],
    ["", "the file is empty", false],
  ])("at %j is told with its place unless its words name it", (place, message, isAdded) => {
    const line = problemLine(create(ProblemSchema, { place, message }));
    expect(line).toBe(isAdded ? `${message} (${place})` : message);
  });
});
