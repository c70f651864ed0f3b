/** The small parts that an activation is made of, each under a clock that the test turns. */
import { describe, expect, test, vi } from "vitest";
import { AnswerQueue } from "../../../src/host/activation/answer-queue.ts";
import { AttemptDeadline } from "../../../src/host/activation/attempt-deadline.ts";
import { ProgressWriter } from "../../../src/host/progress-writer.ts";
import { writeUntil } from "../../../src/host/activation/writes.ts";
import { HostError } from "../../../src/host/errors.ts";
import { createLease } from "../../../src/host/scheduler/lease.ts";
import { FakeClock } from "../../support/fake-clock.ts";

describe("answers", () => {
  test("are handed over in the order in which their writes began", async () => {
    const queue = new AnswerQueue();
    const got: string[] = [];
    const slow = Promise.withResolvers<string>();
    queue.add(slow.promise, (outcome) => got.push(outcome.ok ? outcome.value : "failed"));
    queue.add(Promise.resolve("second"), (outcome) => got.push(outcome.ok ? outcome.value : ""));
    queue.add(Promise.reject(new Error("third")), (outcome) => got.push(outcome.ok ? "" : "third"));
    await Promise.resolve();
    expect(got).toEqual([]);
    expect(queue.open).toBe(3);
    slow.resolve("first");
    await queue.idle();
    expect(got).toEqual(["first", "second", "third"]);
    expect(queue.open).toBe(0);
  });

  test("that are added by an answer are waited for too", async () => {
    const queue = new AnswerQueue();
    const got: number[] = [];
    queue.add(Promise.resolve(1), () => {
      got.push(1);
      queue.add(Promise.resolve(2), () => got.push(2));
    });
    await queue.idle();
    expect(got).toEqual([1, 2]);
  });
});

describe("the deadline of an attempt", () => {
  function watch(): { clock: FakeClock; deadline: AttemptDeadline; overdue: number[] } {
    const clock = new FakeClock();
    const overdue: number[] = [];
    const deadline = new AttemptDeadline(clock, 2_000, () => overdue.push(clock.monotonic()));
    return { clock, deadline, overdue };
  }

  test("passes a grace after the worker's own", () => {
    const { clock, deadline, overdue } = watch();
    deadline.watch(5_000);
    clock.advance(6_999);
    expect(overdue).toEqual([]);
    clock.advance(1);
    expect(overdue).toEqual([7_000]);
  });

  test("does not exist without a limit, and ends with the attempt", () => {
    const { clock, deadline, overdue } = watch();
    deadline.watch(undefined);
    clock.advance(1e9);
    deadline.watch(1_000);
    deadline.watch(undefined);
    clock.advance(1e9);
    deadline.watch(1_000);
    deadline.clear();
    clock.advance(1e9);
    expect(overdue).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("of the attempt that is open counts, whatever those before it had", () => {
    const { clock, deadline, overdue } = watch();
    deadline.watch(50_000);
    clock.advance(1_000);
    deadline.watch(5_000);
    clock.advance(1_000);
    deadline.watch(20_000);
    clock.advance(21_999);
    expect(overdue).toEqual([]);
    clock.advance(1);
    expect(overdue).toEqual([24_000]);
  });

  test("is watched by one timer, however many attempts follow each other", () => {
    const { clock, deadline } = watch();
    const set = vi.spyOn(clock, "after");
    for (let attempt = 0; attempt < 1_000; attempt += 1) {
      deadline.watch(60_000);
      clock.advance(1);
    }
    expect(set).toHaveBeenCalledTimes(1);
  });

  test("of thirty days does not pass at once", () => {
    const { clock, deadline, overdue } = watch();
    deadline.watch(30 * 86_400_000);
    clock.advance(29 * 86_400_000);
    expect(overdue).toEqual([]);
  });

  test("takes no notice of the wall clock", () => {
    const { clock, deadline, overdue } = watch();
    deadline.watch(60_000);
    clock.setWall(clock.now() + 7_200_000);
    clock.advance(1_000);
    expect(overdue).toEqual([]);
    clock.setWall(0);
    clock.advance(61_000);
    expect(overdue).toEqual([62_000]);
  });

  test("that passed while the host stood still is asked about once more", () => {
    const { clock, deadline, overdue } = watch();
    deadline.watch(5_000);
    clock.jump(100_000);
    expect(overdue).toEqual([]);
    clock.advance(2_000);
    expect(overdue).toEqual([102_000]);
  });
});

describe("a write", () => {
  const full = (): HostError => new HostError("STORAGE_FULL", "full");

  test("is tried every second until there is room", async () => {
    const clock = new FakeClock();
    let tries = 0;
    const written = writeUntil(clock, new AbortController().signal, async () => {
      tries += 1;
      if (tries < 4) throw full();
      return "stored";
    });
    for (let second = 0; second < 3; second += 1) {
      await new Promise(setImmediate);
      expect(tries).toBe(second + 1);
      clock.advance(1_000);
    }
    await expect(written).resolves.toBe("stored");
    expect(clock.pending).toBe(0);
  });

  test("is given up at once when the host gives up", async () => {
    const clock = new FakeClock();
    const givenUp = new AbortController();
    const written = writeUntil(clock, givenUp.signal, () => Promise.reject(full()));
    await new Promise(setImmediate);
    givenUp.abort();
    await expect(written).rejects.toMatchObject({ reason: "STORAGE_FULL" });
    expect(clock.pending).toBe(0);
  });

  test("that breaks a rule is not tried again", async () => {
    const refusal = new HostError("ILLEGAL_TRANSITION", "no");
    let tries = 0;
    const written = writeUntil(new FakeClock(), new AbortController().signal, async () => {
      tries += 1;
      throw refusal;
    });
    await expect(written).rejects.toBe(refusal);
    expect(tries).toBe(1);
  });
});

describe("updates", () => {
  test("are written at once, then the newest once a second, and the last at the end", () => {
    const clock = new FakeClock();
    const written: string[] = [];
    const writer = new ProgressWriter(clock, (node, text) => written.push(`${node}: ${text}`));
    for (let number = 1; number <= 50; number += 1) writer.publish("a", String(number));
    expect(written).toEqual(["a: 1"]);
    writer.publish("b", "x");
    clock.advance(1_000);
    expect(written).toEqual(["a: 1", "a: 50", "b: x"]);
    writer.publish("a", "51");
    expect(written).toHaveLength(3);
    writer.close();
    expect(written.at(-1)).toBe("a: 51");
    expect(clock.pending).toBe(0);
  });
});

describe("lease time", () => {
  test("moves by one second with each tick and stands while the store cannot write", () => {
    const lease = createLease();
    expect(lease.now()).toBe(0);
    lease.tick(false);
    lease.tick(true);
    lease.tick(false);
    expect(lease.now()).toBe(2_000);
  });
});
