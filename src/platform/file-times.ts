/** When files changed, without looking into them. */
import { statSync } from "node:fs";

/**
 * Wall-clock milliseconds of the last change of a file or of what is known about
 * it; `Infinity` when it cannot be looked at.
 */
export function changedAt(path: string): number {
  try {
    // Unlike the time of modification, this one cannot be set by whoever copies the file.
    return statSync(path).ctimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
