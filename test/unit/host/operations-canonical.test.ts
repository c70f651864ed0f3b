import { describe, expect, test } from "vitest";
import {
  canonicalJson,
  commandFingerprint,
  digestOfJson,
  parseJson,
} from "../../../src/host/operations/canonical.ts";

describe("the canonical form of a value", () => {
  test("does not depend on the order of keys at any depth", () => {
    const left = { b: [{ y: 1, x: 2 }], a: null };
    const right = { a: null, b: [{ x: 2, y: 1 }] };
    expect(canonicalJson(left)).toBe('{"a":null,"b":[{"x":2,"y":1}]}');
    expect(canonicalJson(right)).toBe(canonicalJson(left));
  });

  test("depends on the order of a list, and on types", () => {
    expect(digestOfJson("[1,2]", "x")).not.toBe(digestOfJson("[2,1]", "x"));
    expect(digestOfJson("1", "x")).not.toBe(digestOfJson('"1"', "x"));
    expect(digestOfJson(" 1 ", "x")).toBe(digestOfJson("1", "x"));
  });

  test("keeps a key that looks like a prototype", () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}');
  });

  test("is of JSON only", () => {
    expect(() => parseJson("{", "the answer")).toThrow(/^the answer is not JSON: /);
  });
});

describe("the fingerprint of a command", () => {
  test("is of its method and its fields", () => {
    const fields = { runId: "run_1", now: true };
    const same = commandFingerprint("PauseRun", { now: true, runId: "run_1" });
    expect(commandFingerprint("PauseRun", fields)).toBe(same);
    expect(commandFingerprint("CancelRun", fields)).not.toBe(same);
    expect(commandFingerprint("PauseRun", { ...fields, now: false })).not.toBe(same);
  });
});
