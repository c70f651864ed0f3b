import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLog } from "../../../src/platform/log.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const OPTIONS = { maxBytes: 1_000, keep: 2 };
let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "log-"));
  file = join(folder, "host.log");
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("the log", () => {
  test("holds one JSON object a line, with time, level and event first", () => {
    const log = openLog(file, new FakeClock(0), OPTIONS);
    log.info("host.started", { epoch: 3, at: "not this", level: "nor this" });
    log.child({ worker: "wrk_1" }).warn("worker.ended", { code: 7 });
    expect(lines()).toEqual([
      { at: "1970-01-01T00:00:00.000Z", level: "info", event: "host.started", epoch: 3 },
      {
        at: "1970-01-01T00:00:00.000Z",
        level: "warn",
        event: "worker.ended",
        worker: "wrk_1",
        code: 7,
      },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("goes on where an earlier one ended", () => {
    openLog(file, new FakeClock(), OPTIONS).info("one");
    openLog(file, new FakeClock(), OPTIONS).info("two");
    expect(lines().map(({ event }) => event)).toEqual(["one", "two"]);
  });

  test("tells errors with their causes, and values that are not JSON", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const log = openLog(file, new FakeClock(), { ...OPTIONS, maxBytes: 100_000 });
    log.error("failed", { error: new Error("outer", { cause: new TypeError("inner") }), big: 5n });
    log.error("odd", { circle });
    const [failed, odd] = lines();
    expect(failed).toMatchObject({
      error: { name: "Error", message: "outer", cause: { name: "TypeError", message: "inner" } },
      big: "5",
    });
    expect(odd).toMatchObject({
      event: "odd",
      unprintable: expect.stringContaining("circular") as string,
    });
  });

  test("cuts what is too long for a line", () => {
    const log = openLog(file, new FakeClock(), { ...OPTIONS, maxBytes: 1_000_000 });
    log.info("long", { text: "x".repeat(100_000) });
    expect(readFileSync(file, "utf8").length).toBeLessThan(17_000);
    expect(lines()[0]).toMatchObject({ event: "long", cutFromChars: expect.any(Number) as number });
  });

  test("begins a new file in time and keeps so many of the old", () => {
    const log = openLog(file, new FakeClock(), OPTIONS);
    for (let number = 0; number < 100; number += 1) log.info("tick", { number });
    for (const name of [file, `${file}.1`, `${file}.2`]) {
      expect(statSync(name).size).toBeLessThanOrEqual(OPTIONS.maxBytes);
    }
    expect(existsSync(`${file}.3`)).toBe(false);
    expect(lines().at(-1)).toMatchObject({ number: 99 });
    const all = [`${file}.2`, `${file}.1`, file].flatMap((name) => lines(name));
    const numbers = all.map((line) => Number(line["number"]));
    expect(numbers).toEqual(Array.from(numbers, (_, index) => (numbers[0] ?? 0) + index));
  });

  test("keeps no old file when none is wanted", () => {
    const log = openLog(file, new FakeClock(), { maxBytes: 1_000, keep: 0 });
    for (let number = 0; number < 100; number += 1) log.info("tick", { number });
    expect(existsSync(`${file}.1`)).toBe(false);
    expect(statSync(file).size).toBeLessThanOrEqual(1_000);
  });

  test("begins anew where the old one cannot be moved away, and keeps what is newest", () => {
    mkdirSync(join(`${file}.1`, "inside"), { recursive: true });
    const log = openLog(file, new FakeClock(), OPTIONS);
    for (let number = 0; number < 100; number += 1) log.info("tick", { number });
    expect(statSync(file).size).toBeLessThanOrEqual(OPTIONS.maxBytes);
    expect(lines().at(-1)).toMatchObject({ number: 99 });
  });

  test("never throws, and says how much was lost once it can write again", () => {
    const log = openLog("/proc/nowhere/host.log", new FakeClock(), OPTIONS);
    expect(() => log.error("unheard")).not.toThrow();

    const later = openLog(join(folder, "later/host.log"), new FakeClock(), OPTIONS);
    later.info("lost");
    later.info("lost too");
    file = join(folder, "later/host.log");
    mkdirSync(join(folder, "later"));
    later.info("written");
    expect(lines()).toMatchObject([{ event: "log.dropped", lines: 2 }, { event: "written" }]);
  });
});

function lines(name = file): readonly Record<string, unknown>[] {
  return readFileSync(name, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
