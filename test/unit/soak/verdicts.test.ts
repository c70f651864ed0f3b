import { describe, expect, test } from "vitest";
import type { Judgement } from "../../soak/drift.ts";
import type { Sample } from "../../soak/sampler.ts";
import { judgeAll } from "../../soak/verdicts.ts";
import { numbers } from "../../support/numbers.ts";

const SECOND_MS = 1_000;
const RETENTION_MS = 60_000;

interface Made {
  readonly minutes: number;
  readonly seed?: number;
  readonly sample?: (minute: number, noise: number) => Partial<Sample>;
}

/** A sample a second, as a host would give them that is well. */
function samples({ minutes, seed = 1, sample = () => ({}) }: Made): readonly Sample[] {
  const chance = numbers(seed);
  return Array.from({ length: minutes * 60 }, (_, second) => {
    const minute = second / 60;
    const noise = chance();
    return {
      atMs: second * SECOND_MS,
      epoch: 1,
      residentMb: 100 + 12 * noise,
      descriptors: 40 + Math.floor(8 * noise),
      databaseMb: 5 + noise,
      walMb: 4 * noise,
      outputFiles: 50,
      unfinished: 50,
      finished: second * 2,
      commands: 0,
      ...sample(minute, noise),
    };
  });
}

function drifting(made: readonly Sample[]): readonly string[] {
  return judgeAll(made, RETENTION_MS)
    .filter(({ drifts }) => drifts)
    .map(({ what }) => what);
}

function judged(made: readonly Sample[], what: string): Judgement | undefined {
  return judgeAll(made, RETENTION_MS).find((one) => one.what === what);
}

describe("the memory of a host", () => {
  test.each([1, 2, 3, 4, 5])("that only trembles is steady (seed %i)", (seed) => {
    expect(drifting(samples({ minutes: 15, seed }))).toEqual([]);
  });

  test.each([1, 2, 3, 4, 5])("that grows by 1.2 MB a minute is found (seed %i)", (seed) => {
    const sample = (minute: number, noise: number) => ({
      residentMb: 100 + 1.2 * minute + 12 * noise,
    });
    const made = samples({ minutes: 15, seed, sample });
    expect(drifting(made)).toEqual(["memory of host 1"]);
    expect(judged(made, "memory of host 1")?.perMinute).toBeCloseTo(1.2, 0);
  });

  test("may climb and fall as its heap is collected, however far", () => {
    const sample = (minute: number) => ({ residentMb: 100 + 60 * (minute % 1) });
    expect(drifting(samples({ minutes: 15, sample }))).toEqual([]);
  });

  test("may stand high for a while and grow while it begins", () => {
    const sample = (minute: number, noise: number) => {
      const begun = Math.min(minute, 1.5) * 40;
      const peak = minute > 7 && minute < 9 ? 150 : 0;
      return { residentMb: 60 + begun + peak + noise };
    };
    expect(drifting(samples({ minutes: 15, sample }))).toEqual([]);
  });

  test("is judged for each host by itself, and only for one that lived long enough", () => {
    const sample = (minute: number) => {
      const epoch = minute < 2 ? 1 : 2;
      const age = epoch === 1 ? minute : minute - 2;
      return { epoch, residentMb: 90 + (epoch === 1 ? 60 : 2) * age };
    };
    const made = samples({ minutes: 15, sample });
    expect(drifting(made)).toEqual(["memory of host 2"]);
    expect(judged(made, "memory of host 1")).toBeUndefined();
  });

  test("says nothing while no host listens", () => {
    const sample = (minute: number) =>
      minute > 10 ? { epoch: 0, residentMb: 0, descriptors: 0 } : {};
    const made = samples({ minutes: 15, sample });
    expect(drifting(made)).toEqual([]);
    expect(judged(made, "memory of host 0")).toBeUndefined();
    expect(judged(made, "memory of host 1")?.end).toBeGreaterThan(90);
  });
});

describe("the descriptors of a host", () => {
  test("that are opened and not closed are found", () => {
    const sample = (minute: number) => ({ descriptors: 40 + Math.floor(2 * minute) });
    expect(drifting(samples({ minutes: 15, sample }))).toEqual(["descriptors of host 1"]);
  });
});

describe("the database", () => {
  test("may grow by the receipts that it keeps for ever, and by no more", () => {
    const growth = (kilobytes: number) =>
      samples({
        minutes: 20,
        sample: (minute) => ({
          commands: Math.round(600 * minute),
          databaseMb: 5 + (600 * minute * kilobytes) / 1024,
        }),
      });
    expect(drifting(growth(0.5))).toEqual([]);
    expect(drifting(growth(1.5))).toEqual(["database"]);
  });

  test("may grow until the first runs are old enough to be deleted", () => {
    const sample = (minute: number) => ({ databaseMb: 1 + 20 * Math.min(minute, 2.5) });
    expect(drifting(samples({ minutes: 20, sample }))).toEqual([]);
  });
});

describe("the write-ahead log", () => {
  test("is found when it was too large even once", () => {
    const sample = (minute: number) => ({ walMb: minute > 3 && minute < 3.02 ? 40 : 4 });
    expect(drifting(samples({ minutes: 5, sample }))).toEqual(["write-ahead log"]);
    expect(judged(samples({ minutes: 5, sample }), "write-ahead log")?.end).toBe(40);
  });
});
