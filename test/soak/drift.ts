/** Whether something grows that must not, judged from samples of it. */

export interface Point {
  readonly atMs: number;
  readonly value: number;
}

/** What may grow, and by how much. */
export interface Allowance {
  readonly what: string;
  readonly unit: string;
  /** What one measurement differs from the next without meaning anything. */
  readonly noise: number;
  readonly perMinute: number;
}

export interface Judgement {
  readonly what: string;
  readonly unit: string;
  readonly start: number;
  readonly end: number;
  readonly minutes: number;
  /** By a line through the samples that single ones do not bend. */
  readonly perMinute: number;
  /** What that line may grow by in this time. */
  readonly allowed: number;
  readonly drifts: boolean;
}

/** Samples are gathered into so many groups, each of which counts by its median. */
const GROUPS_MAX = 120;
const MINUTE_MS = 60_000;

/**
 * Judges samples of a steady time. A line through medians tells the growth (Theil and Sen: the
 * median of the slopes between all pairs), so that a peak, or a few, mean nothing.
 */
export function judge(points: readonly Point[], allowance: Allowance): Judgement {
  const groups = grouped(points);
  const first = groups[0] ?? { atMs: 0, value: 0 };
  const last = groups.at(-1) ?? first;
  const minutes = (last.atMs - first.atMs) / MINUTE_MS;
  const perMinute = slopeOf(groups) * MINUTE_MS;
  const allowed = allowance.noise + allowance.perMinute * minutes;
  const { what, unit } = allowance;
  const drifts = perMinute * minutes > allowed;
  return {
    what,
    unit,
    start: first.value,
    end: last.value,
    minutes,
    perMinute,
    allowed,
    drifts,
  };
}

/** The sample in the middle; 0 of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function grouped(points: readonly Point[]): readonly Point[] {
  const size = Math.max(1, Math.ceil(points.length / GROUPS_MAX));
  const groups: Point[] = [];
  for (let start = 0; start < points.length; start += size) {
    const group = points.slice(start, start + size);
    groups.push({
      atMs: median(group.map(({ atMs }) => atMs)),
      value: median(group.map(({ value }) => value)),
    });
  }
  return groups;
}

function slopeOf(points: readonly Point[]): number {
  const slopes = points.flatMap((from, index) =>
    points
      .slice(index + 1)
      .filter((to) => to.atMs > from.atMs)
      .map((to) => (to.value - from.value) / (to.atMs - from.atMs)),
  );
  return median(slopes);
}
