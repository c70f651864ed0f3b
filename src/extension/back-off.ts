/** How long to wait before the host is looked for again. */

const FIRST_MS = 250;
const MS_MAX = 10_000;

/** Doubles with each failure, and spreads those that lost the same host. `spread` is in [0, 1). */
export function backOffMs(failures: number, spread: number): number {
  const ms = Math.min(FIRST_MS * 2 ** Math.max(0, failures - 1), MS_MAX);
  return Math.round(ms * (0.5 + spread));
}
