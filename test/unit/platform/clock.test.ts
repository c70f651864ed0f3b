import { describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const DAY_MS = 86_400_000;

describe("the system clock", () => {
  // Node fires a timer of more than 2^31 - 1 ms at once.
  test("waits longer than Node's longest timer", () => {
    vi.useFakeTimers();
    const run = vi.fn<() => void>();
    systemClock.after(60 * DAY_MS, run);
    vi.advanceTimersByTime(60 * DAY_MS - 1);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledOnce();
  });

  test("forgets a long wait that is cancelled in one of its later pieces", () => {
    vi.useFakeTimers();
    const run = vi.fn<() => void>();
    const timer = systemClock.after(60 * DAY_MS, run);
    vi.advanceTimersByTime(30 * DAY_MS);
    timer.cancel();
    timer.cancel();
    vi.advanceTimersByTime(60 * DAY_MS);
    expect(run).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("repeats until it is cancelled", () => {
    vi.useFakeTimers();
    const run = vi.fn<() => void>();
    const timer = systemClock.every(1_000, run);
    vi.advanceTimersByTime(3_500);
    timer.cancel();
    vi.advanceTimersByTime(10_000);
    expect(run).toHaveBeenCalledTimes(3);
  });

  test("runs what is due in the past as soon as it can", () => {
    vi.useFakeTimers();
    const run = vi.fn<() => void>();
    systemClock.after(-5, run);
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledOnce();
  });
});

describe("the fake clock", () => {
  test("fires in order of due times, each at its own time", () => {
    const clock = new FakeClock(0);
    const fired: string[] = [];
    clock.after(20, () => fired.push(`b at ${clock.now()}`));
    clock.after(10, () => {
      fired.push(`a at ${clock.now()}`);
      clock.after(5, () => fired.push(`c at ${clock.now()}`));
    });
    clock.advance(20);
    expect(fired).toEqual(["a at 10", "c at 15", "b at 20"]);
    expect(clock.pending).toBe(0);
  });

  test("fires a repeating timer for each period that passes, once for a jump over many", () => {
    const clock = new FakeClock();
    const run = vi.fn<() => void>();
    const timer = clock.every(10, run);
    clock.advance(35);
    expect(run).toHaveBeenCalledTimes(3);
    clock.jump(1_000);
    expect(run).toHaveBeenCalledTimes(4);
    clock.advance(10);
    expect(run).toHaveBeenCalledTimes(5);
    timer.cancel();
    clock.advance(100);
    expect(run).toHaveBeenCalledTimes(5);
  });

  test("lets the wall be set without a timer noticing", () => {
    const clock = new FakeClock(1_000);
    const run = vi.fn<() => void>();
    clock.after(10, run);
    clock.setWall(0);
    expect([clock.now(), clock.monotonic()]).toEqual([0, 0]);
    clock.advance(9);
    expect(run).not.toHaveBeenCalled();
    clock.advance(1);
    expect([clock.now(), clock.monotonic()]).toEqual([10, 10]);
    expect(run).toHaveBeenCalledOnce();
  });

  test("does not fire what another timer of the same jump cancelled", () => {
    const clock = new FakeClock();
    const run = vi.fn<() => void>();
    clock.after(1, () => second.cancel());
    const second = clock.after(2, run);
    clock.jump(10);
    expect(run).not.toHaveBeenCalled();
  });
});
