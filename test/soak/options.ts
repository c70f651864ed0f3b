/** What a soak is told on its command line. */
import { join } from "node:path";
import { parseArgs } from "node:util";

export interface SoakOptions {
  /** How long runs are started and things go wrong; what is then left over is finished after it. */
  readonly durationMs: number;
  /** Unfinished runs at any time. */
  readonly runs: number;
  /** Places of the host: fewer than runs, so that some are always queued. */
  readonly capacity: number;
  readonly seed: number;
  /** Folder of the plot and the numbers. */
  readonly reports: string;
}

/** A soak that is too short has no time for what must happen in it. */
const MINUTES_MIN = 0.2;

export const USAGE = `usage: npm run soak -- [--minutes N] [--runs N] [--capacity N] [--seed N] [--reports FOLDER]
  --minutes   how long things go wrong (30; at least ${MINUTES_MIN})
  --runs      unfinished runs at any time (50)
  --capacity  runs that execute at the same time (8)
  --seed      what is repeated with the same number, as far as processes repeat themselves (1)
  --reports   where soak.svg and soak.json are written (.reports)`;

export function readOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string", default: "30" },
      runs: { type: "string", default: "50" },
      capacity: { type: "string", default: "8" },
      seed: { type: "string", default: "1" },
      reports: { type: "string", default: join(import.meta.dirname, "../../.reports") },
    },
  });
  return {
    durationMs: number("minutes", values.minutes, MINUTES_MIN) * 60_000,
    runs: number("runs", values.runs, 1),
    capacity: number("capacity", values.capacity, 1),
    seed: number("seed", values.seed, 0),
    reports: values.reports,
  };
}

function number(name: string, text: string, min: number): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= min) return value;
  throw new RangeError(`--${name} must be a number of at least ${min}, is "${text}"`);
}
