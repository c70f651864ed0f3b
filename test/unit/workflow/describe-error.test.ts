import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { describeError } from "../../../src/workflow/describe-error.ts";

describe("describing an error", () => {
  test("keeps name, message and stack", () => {
    const error = new TypeError("no such thing");
    expect(describeError(error)).toEqual({
      name: "TypeError",
      message: "no such thing",
      stack: error.stack,
    });
  });

  test("keeps the message when fields hold what JSON cannot", () => {
    const fields: Record<string, unknown> = {
      n: 1n,
      code: "E1",
      nothing: undefined,
      nan: Number.NaN,
      at: new Date(0),
      bad: new Date(Number.NaN),
      map: new Map([[1, 2]]),
      data: Buffer.from("abc"),
      run: () => 1,
      sign: Symbol("s"),
    };
    const error = Object.assign(new Error("x"), fields);
    Object.assign(error, { self: error });
    Object.defineProperty(error, "trap", {
      enumerable: true,
      get() {
        throw new Error("inner");
      },
    });
    const description = describeError(error);
    expect(description.message).toBe("x");
    expect(description.details).toEqual({
      n: "[BigInt 1]",
      code: "E1",
      nan: "[NaN]",
      at: "1970-01-01T00:00:00.000Z",
      bad: "[Invalid Date]",
      map: "[Map of 1]",
      data: "[Buffer of 3 bytes]",
      run: "[function run]",
      sign: "[symbol s]",
      self: "[circular]",
      trap: "[cannot be read]",
    });
  });

  test("describes the cause and the errors of an AggregateError", () => {
    const error = new AggregateError([new RangeError("first"), "second"], "both", {
      cause: new Error("root"),
    });
    const { details } = describeError(error);
    expect(details).toMatchObject({
      cause: { name: "Error", message: "root" },
      errors: [{ name: "RangeError", message: "first" }, "second"],
    });
  });

  test("reads errors of another realm and of libraries that only look like errors", () => {
    expect(describeError(runInNewContext("new RangeError('far')"))).toMatchObject({
      name: "RangeError",
      message: "far",
    });
    expect(describeError({ name: "HttpError", message: "404", status: 404 })).toEqual({
      name: "HttpError",
      message: "404",
      details: { status: 404 },
    });
  });

  test.each<[string, unknown, string]>([
    ["null", null, "null was thrown"],
    ["undefined", undefined, "undefined was thrown"],
    ["a text", "went wrong", "went wrong"],
    ["an empty text", "", "an empty text was thrown"],
    ["a number", 42, "42 was thrown"],
    ["a BigInt", 42n, "42n was thrown"],
    ["a boolean", false, "false was thrown"],
    ["a symbol", Symbol("s"), "Symbol(s) was thrown"],
    ["a function", parseInt, "function parseInt was thrown"],
    ["an object", { code: 7 }, 'a value that is no error was thrown: {"code":7}'],
    ["an array", [1, [2n]], 'a value that is no error was thrown: [1,["[BigInt 2]"]]'],
    ["an object without prototype", Object.create(null), "a value that is no error was thrown: {}"],
  ])("describes what is no error: %s", (_name, thrown, message) => {
    expect(describeError(thrown)).toEqual({ name: "ThrownValue", message });
  });

  test("never throws, whatever is thrown", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const hostile = new Proxy(new Error("x"), {
      get() {
        throw new Error("trap");
      },
      ownKeys() {
        throw new Error("trap");
      },
      getPrototypeOf() {
        throw new Error("trap");
      },
    });
    const oddNames = Object.assign(new Error("x"), { name: Symbol("n"), message: { toString: 1 } });
    expect(describeError(proxy).name).toBe("ThrownValue");
    expect(describeError(hostile).name).toBe("ThrownValue");
    expect(describeError(oddNames)).toMatchObject({ name: "Symbol(n)", message: "[object]" });
    expect(describeError(Object.assign(new Error("outer"), { proxy })).message).toBe("outer");
  });

  test("is bounded in every direction", () => {
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 10_000; level += 1) deep = { deep };
    const wide = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`k${index}`, "v".repeat(9_000)]),
    );
    const error = Object.assign(new Error("m".repeat(1_000_000)), {
      deep,
      wide,
      list: Array.from({ length: 9_999 }, () => wide),
    });
    error.stack = "s".repeat(1_000_000);
    const text = JSON.stringify(describeError(error));
    expect(text.length).toBeLessThan(1_000_000);
    expect(text).toContain("more characters]");
    expect(text).toContain("[nested deeper]");
    expect(text).toContain("more]");
  });

  test("is well-formed text, so that it can be stored", () => {
    const { message } = describeError(new Error(`half \ud800 and ${"x".repeat(8_179)}🎉`));
    expect(message.isWellFormed()).toBe(true);
  });
});
