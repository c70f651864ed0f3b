import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { JsonValueError, toJson } from "../../../src/workflow/json.ts";
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

class Money {
  readonly cents = 5;
}

class List extends Array {}

describe("a value that JSON holds exactly", () => {
  test.each([
    null,
    true,
    false,
    0,
    1,
    -1.5,
    Number.MAX_VALUE,
    5e-324,
    "",
    "text",
    'quote " and \\ and \n and \u0001 and \u2028',
    "emoji 🎉 and é",
    [],
    {},
    [[], {}],
    { a: { b: [1, "2", null, false, 0, ""] } },
    { "": 1, "with space": 2, 3: "three" },
  ])("round-trips: %j", (value) => {
    const copy = toJson(value, "x");
    expect(copy).toEqual(value);
    expect(copy).toEqual(JSON.parse(JSON.stringify(value)));
  });

  test("is copied, so that a later change of the original is not seen", () => {
    const original = { list: [1] };
    const copy = toJson(original, "x");
    original.list.push(2);
    expect(copy).toEqual({ list: [1] });
  });

  test("may hold the same object twice", () => {
    const shared = { n: 1 };
    expect(toJson([shared, { shared }], "x")).toEqual([{ n: 1 }, { shared: { n: 1 } }]);
  });

  test("may come from another realm or have no prototype", () => {
    const foreign: unknown = runInNewContext("({ a: [1, { b: 2 }] })");
    expect(toJson(foreign, "x")).toEqual({ a: [1, { b: 2 }] });
    expect(toJson(Object.assign(Object.create(null), { a: 1 }), "x")).toEqual({ a: 1 });
  });

  test("keeps a member named __proto__ as a member", () => {
    const copy = toJson(JSON.parse('{"__proto__": {"polluted": true}}'), "x");
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":true}}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  test("reads a getter once and keeps what it gave", () => {
    let reads = 0;
    const value = {
      get n() {
        reads += 1;
        return reads;
      },
    };
    expect(toJson(value, "x")).toEqual({ n: 1 });
    expect(reads).toBe(1);
  });
});

describe("a value that is made to fit", () => {
  test("drops members that are undefined, as JSON does", () => {
    const copy = toJson({ a: 1, b: undefined, c: { d: undefined } }, "x");
    expect(Object.keys(copy as object)).toEqual(["a", "c"]);
    expect(JSON.stringify(copy)).toBe('{"a":1,"c":{}}');
  });

  test("becomes null when it is undefined as a whole", () => {
    expect(toJson(undefined, "x")).toBeNull();
  });

  test("turns -0 into 0, since JSON text has no other zero", () => {
    expect(Object.is(toJson(-0, "x"), 0)).toBe(true);
    expect(Object.is((toJson([-0], "x") as number[])[0], 0)).toBe(true);
  });

  test("drops members of an array that are not items", () => {
    const match = /(?<year>\d+)/.exec("in 2024");
    expect(toJson(match, "x")).toEqual(["2024", "2024"]);
  });
});

const lone = "\ud800";

describe("a value that JSON would change or lose", () => {
  test.each<[string, unknown, string]>([
    [
      "Date",
      { items: [0, 1, 2, { when: new Date(0) }] },
      "outputs.plan.items[3].when: Date is not JSON; use toISOString()",
    ],
    ["Invalid Date", new Date(Number.NaN), "outputs.plan: Date is not JSON; use toISOString()"],
    ["BigInt", { n: 1n }, "outputs.plan.n: BigInt is not JSON; use a string"],
    ["NaN", [Number.NaN], "outputs.plan[0]: NaN is not JSON; use null"],
    ["Infinity", Number.POSITIVE_INFINITY, "outputs.plan: Infinity is not JSON; use null"],
    [
      "-Infinity",
      { a: Number.NEGATIVE_INFINITY },
      "outputs.plan.a: -Infinity is not JSON; use null",
    ],
    ["undefined in an array", [1, undefined], "outputs.plan[1]: undefined is not JSON; use null"],
    // oxlint-disable-next-line no-sparse-arrays
    ["a hole in an array", [1, , 3], "outputs.plan[1]: undefined is not JSON; use null"],
    [
      "function",
      { run: () => 1 },
      "outputs.plan.run: function is not JSON; return the data it would compute",
    ],
    [
      "toJSON of a plain object",
      { toJSON: () => 1 },
      "outputs.plan.toJSON: function is not JSON; return the data it would compute",
    ],
    ["symbol", { s: Symbol("x") }, "outputs.plan.s: symbol is not JSON; use a string"],
    [
      "symbol as a key",
      { [Symbol("x")]: 1 },
      'outputs.plan["Symbol(x)"]: symbol is not JSON; use a string',
    ],
    ["Map", new Map([[1, 2]]), "outputs.plan: Map is not JSON; use Object.fromEntries()"],
    ["Set", { s: new Set([1]) }, "outputs.plan.s: Set is not JSON; use an array"],
    [
      "Buffer",
      { data: Buffer.from("x") },
      "outputs.plan.data: Buffer is not JSON; use toString() or write a file",
    ],
    [
      "Uint8Array",
      new Uint8Array(2),
      "outputs.plan: Uint8Array is not JSON; use an array or write a file",
    ],
    [
      "ArrayBuffer",
      new ArrayBuffer(2),
      "outputs.plan: ArrayBuffer is not JSON; use a plain object",
    ],
    [
      "class instance",
      { price: new Money() },
      "outputs.plan.price: Money is not JSON; use a plain object",
    ],
    ["subclass of Array", new List(), "outputs.plan: List is not JSON; use a plain object"],
    [
      "object with a prototype of its own",
      Object.create({ a: 1 }),
      "outputs.plan: Object is not JSON; use a plain object",
    ],
    ["Error", new Error("x"), "outputs.plan: Error is not JSON; use its message"],
    ["RegExp", /x/, "outputs.plan: RegExp is not JSON; use its source"],
    ["URL", new URL("http://x"), "outputs.plan: URL is not JSON; use its href"],
    ["Promise", { p: Promise.resolve(1) }, "outputs.plan.p: Promise is not JSON; await it"],
    ["boxed string", Object("x"), "outputs.plan: String is not JSON; use a plain object"],
    [
      "generator",
      (function* () {})(),
      "outputs.plan: class instance is not JSON; use a plain object",
    ],
    [
      "lone surrogate",
      { t: `a${lone}` },
      "outputs.plan.t: lone surrogate is not JSON; use toWellFormed()",
    ],
    [
      "lone low surrogate",
      ["\udc00x"],
      "outputs.plan[0]: lone surrogate is not JSON; use toWellFormed()",
    ],
  ])("is refused with its place: %s", (_name, value, message) => {
    expect(refusal(value)).toEqual({ problem: "not_json", message });
  });

  test("is refused when a key holds a lone surrogate", () => {
    expect(refusal({ [lone]: 1 })).toEqual({
      problem: "not_json",
      message: `outputs.plan["\\ud800"]: lone surrogate is not JSON; use toWellFormed()`,
    });
  });

  test("is refused when it contains itself, at the place where it does", () => {
    const value: { list: unknown[] } = { list: [] };
    value.list.push({ again: value });
    expect(refusal(value).message).toBe(
      "outputs.plan.list[0].again: cycle is not JSON; use ids in place of references",
    );
  });

  test("is refused when it cannot be read", () => {
    const value = {
      get broken(): never {
        throw new Error("no");
      },
    };
    expect(refusal(value)).toEqual({
      problem: "unreadable",
      message: "outputs.plan.broken: cannot be read: no",
    });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(refusal({ proxy }).problem).toBe("unreadable");
  });

  test("is named with quotes where a key is no plain name, and cut where it is giant", () => {
    expect(refusal({ "a b": { 'c"d': 1n } }).message).toContain(
      'outputs.plan["a b"]["c\\"d"]: BigInt',
    );
    expect(refusal({ ["k".repeat(5_000)]: 1n }).message.length).toBeLessThan(200);
  });
});
