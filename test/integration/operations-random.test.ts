import { describe, expect, test } from "vitest";
import { RandomLife } from "../support/random-life.ts";

const STEPS = 600;
/** Another seed is another life; one that failed is added here and stays. */
const SEEDS = [1, 2, 5, 6];
const lived = new Map<string, number>();

describe("whatever is done in whatever order", () => {
  test.each(SEEDS)(
    "is refused by a rule or leaves sound rows (seed %i)",
    async (seed) => {
      const life = new RandomLife(seed);
      for (let step = 0; step < STEPS; step += 1) await life.step();
      expect([...life.done.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(50);
      for (const [name, count] of life.done) lived.set(name, count + (lived.get(name) ?? 0));
    },
    60_000,
  );

  test("was done at least once in one of these lives", () => {
    const steps = [
      "ask",
      "submit",
      "refuse",
      "accept",
      "decide",
      "see",
      "answer",
      "resolve",
      "pause",
    ];
    expect(steps.filter((name) => !lived.has(name))).toEqual([]);
  });
});
