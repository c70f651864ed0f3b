import { describe, expect, test } from "vitest";
import { RandomLife } from "../support/random-life.ts";

const STEPS = 300;
/** Another seed is another life; one that failed is added here and stays. */
const SEEDS = [1, 2, 3, 4];

describe("whatever is done in whatever order", () => {
  test.each(SEEDS)(
    "is refused by a rule or leaves sound rows (seed %i)",
    async (seed) => {
      const life = new RandomLife(seed);
      for (let step = 0; step < STEPS; step += 1) await life.step();
      expect([...life.done.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(50);
    },
    60_000,
  );
});
