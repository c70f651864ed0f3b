import { describe, expect, test } from "vitest";
import { selectNext } from "../../../src/host/scheduler/select.ts";
import type { QueuedRun, TakenPlace } from "../../../src/host/scheduler/select.ts";

const run = (runId: string, projectDir: string, priority = 0): QueuedRun => ({
  runId,
  projectDir,
  priority,
});
const place = (runId: string, projectDir: string): TakenPlace => ({ runId, projectDir });

describe("the run that gets the next place", () => {
  test("is nobody when nobody waits", () => {
    expect(selectNext([], [])).toBeUndefined();
  });

  test("is the first of the queue among projects that have as many places", () => {
    expect(selectNext([run("1", "a"), run("2", "b")], [])?.runId).toBe("1");
  });

  test("is one of the project that has the fewest", () => {
    const queued = [run("1", "a"), run("2", "a"), run("3", "b"), run("4", "c")];
    const taken = [place("x", "a"), place("y", "a"), place("z", "b")];
    expect(selectNext(queued, taken)?.runId).toBe("4");
    expect(selectNext(queued.slice(0, 3), taken)?.runId).toBe("3");
  });

  test("is of the highest priority, whatever its project has", () => {
    const queued = [run("1", "a", 5), run("2", "b")];
    expect(selectNext(queued, [place("x", "a")])?.runId).toBe("1");
  });

  test("has no place yet: its last worker may still be ending", () => {
    const queued = [run("1", "a"), run("2", "a")];
    expect(selectNext(queued, [place("1", "a")])?.runId).toBe("2");
    expect(selectNext(queued.slice(0, 1), [place("1", "a")])).toBeUndefined();
  });
});
