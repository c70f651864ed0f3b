/** What a list of samples says. */
export interface Summary {
  readonly count: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
}

export function summarise(samples: readonly number[]): Summary {
  return {
    count: samples.length,
    min: Math.min(...samples),
    p50: quantile(samples, 0.5),
    p99: quantile(samples, 0.99),
  };
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** The sample below which the share lies; 0 of none. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((left, right) => left - right);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0;
}
