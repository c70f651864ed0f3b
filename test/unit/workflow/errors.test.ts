import { describe, expect, test } from "vitest";
import {
  ClaimLostError,
  EffectUnknown,
  TimeoutError,
  NonRetryableError,
  RoutingError,
  CancelledError,
  PausedError,
  isEffectUnknown,
  isRetryable,
} from "../../../src/workflow/errors.ts";

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error("trap");
    },
  },
);

describe("whether trying again may help", () => {
  test.each<[string, unknown, boolean]>([
    ["a plain error", new Error("x"), true],
    ["a NonRetryableError", new NonRetryableError("x"), false],
    [
      "an error of that name from another copy",
      Object.assign(new Error("x"), { name: "NonRetryableError" }),
      false,
    ],
    ["an error that was made plain on its way", { name: "NonRetryableError", message: "x" }, false],
    [
      "an error that says so by a field",
      Object.assign(new Error("x"), { retryable: false }),
      false,
    ],
    ["an error that says the opposite", Object.assign(new Error("x"), { retryable: true }), true],
    ["a routing error", new RoutingError("a", "x"), false],
    ["a text", "NonRetryableError", true],
    ["null", null, true],
    ["undefined", undefined, true],
    ["an object that cannot be read", hostile, true],
  ])("%s", (_name, thrown, expected) => {
    expect(isRetryable(thrown)).toBe(expected);
  });
});

describe("whether an effect is unknown", () => {
  test.each<[string, unknown, boolean]>([
    ["EffectUnknown", new EffectUnknown("lost the connection"), true],
    ["one from another copy", Object.assign(new Error("x"), { name: "EffectUnknown" }), true],
    ["another error", new Error("EffectUnknown"), false],
    ["null", null, false],
    ["an object that cannot be read", hostile, false],
  ])("%s", (_name, thrown, expected) => {
    expect(isEffectUnknown(thrown)).toBe(expected);
  });
});

describe("the errors of the package", () => {
  test.each<[Error, string, string]>([
    [new EffectUnknown("why"), "EffectUnknown", "why"],
    [new NonRetryableError("no"), "NonRetryableError", "no"],
    [new TimeoutError("build", 5), "TimeoutError", "node build was not done after 5 ms"],
    [new PausedError(), "PausedError", "the run was paused"],
    [new CancelledError(), "CancelledError", "the run was cancelled"],
    [
      new ClaimLostError("expired"),
      "ClaimLostError",
      "this worker no longer owns the run (expired)",
    ],
    [new RoutingError("a", "x"), "RoutingError", "after node a: x"],
  ])("carry a name to route by: %s", (error, name, message) => {
    expect({ name: error.name, message: error.message }).toEqual({ name, message });
    expect(error).toBeInstanceOf(Error);
  });

  test("keep a cause", () => {
    const cause = new Error("root");
    expect(new EffectUnknown("why", { cause }).cause).toBe(cause);
    expect(new NonRetryableError("why", { cause }).cause).toBe(cause);
  });
});
