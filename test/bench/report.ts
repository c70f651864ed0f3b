/**
 * Where measurements are written: one line of JSON each, gathered into a table
 * when all have been made (see summary.ts).
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";

export const REPORTS = join(import.meta.dirname, "../../.reports");
export const LINES = join(REPORTS, "bench.ndjson");

export interface Bound {
  readonly is: "at least" | "at most";
  readonly value: number;
}

export interface Measurement {
  readonly measure: string;
  readonly value: number;
  /** "ms", "MB", or "x" for a ratio. */
  readonly unit: string;
  readonly bound: Bound;
  /** What it is compared with, or seen beside, measured in the same run. */
  readonly reference: string;
}

export interface Line extends Measurement {
  readonly reached: boolean;
  /** Of the last minute: absolute numbers mean nothing without it. */
  readonly load: number;
}

/**
 * Records what was measured and returns it. A test expects `reached` of ratios
 * alone: an absolute number is the machine's as much as ours.
 */
export function report(measurement: Measurement): Line {
  const { value, bound } = measurement;
  const reached = bound.is === "at least" ? value >= bound.value : value <= bound.value;
  const line: Line = { ...measurement, reached, load: loadavg()[0] ?? 0 };
  mkdirSync(REPORTS, { recursive: true });
  appendFileSync(LINES, `${JSON.stringify(line)}\n`);
  return line;
}

export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 0)} ms`;
}
