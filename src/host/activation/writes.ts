import { HostError } from "../errors.ts";
import type { Clock } from "../../platform/clock.ts";

/** A full disk is not empty a moment later; a second costs a waiting worker little. */
const RETRY_MS = 1_000;

/**
 * Writes, and while the store cannot, tries again every second until somebody
 * gives up. Whatever else the write is refused for is thrown at once.
 */
export async function writeUntil<T>(
  clock: Clock,
  givenUp: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isStorageTrouble(error) || givenUp.aborted) throw error;
      await pause(clock, givenUp);
    }
  }
}

/** Nothing was stored, and nothing is wrong with what was to be stored. */
export function isStorageTrouble(error: unknown): boolean {
  if (!(error instanceof HostError)) return false;
  return error.reason === "STORAGE_FULL" || error.reason === "STORAGE_FAILED";
}

async function pause(clock: Clock, givenUp: AbortSignal): Promise<void> {
  return await new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      givenUp.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.after(RETRY_MS, done);
    givenUp.addEventListener("abort", done, { once: true });
  });
}
