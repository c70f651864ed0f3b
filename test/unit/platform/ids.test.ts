import { afterEach, describe, expect, test, vi } from "vitest";
import { newId, newSecret, random, sha256Hex } from "../../../src/platform/ids.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("ids", () => {
  test("are a prefix and 26 characters", () => {
    expect(newId("run")).toMatch(/^run_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(newId("err")).toMatch(/^err_/);
  });

  test("sort in the order in which they were made, within one millisecond too", () => {
    const made = Array.from({ length: 5_000 }, () => newId("att"));
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });

  test("go on sorting when the wall clock steps back", () => {
    const before = newId("run");
    vi.useFakeTimers({ now: 1_000 });
    const after = newId("run");
    expect(after > before).toBe(true);
  });

  test("begin with the time", () => {
    vi.useFakeTimers({ now: Date.UTC(2190, 0, 1) });
    const first = newId("run");
    vi.setSystemTime(Date.UTC(2190, 0, 1) + 1);
    const second = newId("run");
    expect(second > first).toBe(true);
    expect(second.slice(0, 13)).toBe(first.slice(0, 13));
    expect(second.slice(4, 14)).not.toBe(first.slice(4, 14));
  });
});

test("secrets are 32 bytes and never the same", () => {
  const secrets = Array.from({ length: 100 }, newSecret);
  expect(secrets.every((secret) => Buffer.from(secret, "base64url").length === 32)).toBe(true);
  expect(new Set(secrets).size).toBe(100);
});

test("digests are of UTF-8 text and of bytes alike", () => {
  const known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(sha256Hex("abc")).toBe(known);
  expect(sha256Hex(new TextEncoder().encode("abc"))).toBe(known);
  expect(sha256Hex("ä")).toBe(sha256Hex(new Uint8Array([0xc3, 0xa4])));
});

test("random numbers are in [0, 1) and differ", () => {
  const numbers = Array.from({ length: 100 }, random);
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
  expect(new Set(numbers).size).toBeGreaterThan(90);
});
