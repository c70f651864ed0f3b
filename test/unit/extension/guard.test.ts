import { describe, expect, test } from "vitest";
import { Guard } from "../../../src/extension/guard.ts";
import type { Fault } from "../../../src/extension/guard.ts";

const fail = (): never => {
  throw new Error("broken");
};

describe("a guarded function", () => {
  test("returns what it returns", async () => {
    const guard = new Guard();
    expect(guard.wrap("sum", (left: number, right: number) => left + right)(1, 2)).toBe(3);
    expect(await guard.run("later", async () => 4)).toBe(4);
    expect(guard.faults).toEqual([]);
  });

  test("never throws, and what it threw is noted", () => {
    const guard = new Guard();
    expect(guard.wrap("timer", fail)()).toBeUndefined();
    expect(guard.faults).toMatchObject([{ where: "timer", error: { message: "broken" } }]);
  });

  test("never rejects", async () => {
    const guard = new Guard();
    expect(await guard.wrap("socket", async () => fail())()).toBeUndefined();
    expect(await guard.settle("socket", async () => fail())).toBeUndefined();
    expect(guard.faults).toHaveLength(2);
  });

  test("makes an error of whatever is thrown", () => {
    const guard = new Guard();
    guard.note("odd", "a text");
    expect(guard.faults[0]?.error.message).toBe("a text");
  });
});

describe("who listens for faults", () => {
  test("hears of each place once", () => {
    const guard = new Guard();
    const heard: Fault[] = [];
    guard.onFault((fault) => heard.push(fault));
    for (const where of ["a", "a", "b"]) guard.run(where, fail);
    expect(heard.map(({ where }) => where)).toEqual(["a", "b"]);
  });

  test("may fail itself", () => {
    const guard = new Guard();
    guard.onFault(fail);
    expect(guard.run("a", fail)).toBeUndefined();
  });
});

test("only the newest faults are kept", () => {
  const guard = new Guard();
  for (let number = 0; number < 30; number += 1) guard.note(`place ${number}`, new Error("x"));
  expect(guard.faults).toHaveLength(20);
  expect(guard.faults.at(-1)?.where).toBe("place 29");
});
