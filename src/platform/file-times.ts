/** When files changed, without looking into them. */
import { stat } from "node:fs/promises";

/**
 * Wall-clock milliseconds of the last change of a file or of what is known about
 * it; `Infinity` when it cannot be looked at.
 */
export async function changedAt(path: string): Promise<number> {
  try {
    // Unlike the time of modification, this one cannot be set by whoever copies the file.
    return (await stat(path)).ctimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
