import { describe, expect, test } from "vitest";
import {
  DURATION_MAX_MS,
  durationProblem,
  requireDuration,
  requireInstant,
  requireTimeout,
} from "../../../src/workflow/duration.ts";

describe("a duration", () => {
  test.each([1, 0.5, 15 * 60_000, 2 ** 31, 2 ** 33, DURATION_MAX_MS])("may be %d ms", (ms) => {
    expect(durationProblem(ms)).toBeUndefined();
    expect(requireDuration(ms, "timeoutMs")).toBe(Math.ceil(ms));
  });

  test.each<[unknown, string]>([
    [0, "must be more than 0 ms, not 0"],
    [-0, "must be more than 0 ms, not 0"],
    [-1, "must be more than 0 ms, not -1"],
    [Number.NaN, "must be a finite number of milliseconds, not NaN"],
    [Number.POSITIVE_INFINITY, "must be a finite number of milliseconds, not Infinity"],
    [Number.NEGATIVE_INFINITY, "must be a finite number of milliseconds, not -Infinity"],
    [DURATION_MAX_MS + 1, `must be at most ${DURATION_MAX_MS} ms (100 years)`],
    ["5", 'must be a number of milliseconds, not "5"'],
    [null, "must be a number of milliseconds, not null"],
    [undefined, "must be a number of milliseconds, not a value of type undefined"],
    [5n, "must be a number of milliseconds, not a value of type bigint"],
    [[5], "must be a number of milliseconds, not an array"],
  ])("may not be %s", (value, problem) => {
    expect(durationProblem(value)).toBe(problem);
    expect(() => requireDuration(value, "nodes.a.timeoutMs")).toThrow(
      `nodes.a.timeoutMs: ${problem}`,
    );
  });

  test("of null means no limit, for a timeout only", () => {
    expect(requireTimeout(null, "x")).toBeNull();
    expect(requireTimeout(7, "x")).toBe(7);
    expect(() => requireTimeout(undefined, "x")).toThrow(RangeError);
  });
});

describe("a point in time", () => {
  test.each<[unknown, number]>([
    [new Date(5), 5],
    [0, 0],
    [-5, -5],
    [1.2, 2],
    ["1970-01-01T00:00:01Z", 1_000],
    ["1970-01-01T01:00:00.5+01:00", 500],
    ["1970-01-01T00:00Z", 0],
  ])("may be %s", (value, ms) => {
    expect(requireInstant(value, "until")).toBe(ms);
  });

  test.each<unknown>([
    new Date(Number.NaN),
    "1970-01-01T00:00:00",
    "tomorrow",
    "2024-13-01T00:00:00Z",
    Number.NaN,
    8.65e15,
    null,
    undefined,
    {},
  ])("may not be %s", (value) => {
    expect(() => requireInstant(value, "nodes.w.until")).toThrow(
      /^nodes\.w\.until: must be a Date/,
    );
  });
});
