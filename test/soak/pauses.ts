/** Waiting, and doing things again and again, until the soak is over. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "./kinds.ts";

/** Resolves after the time, or at once when the signal comes. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}

export interface Habit {
  readonly name: string;
  /** On average. */
  readonly everyMs: number;
  readonly act: () => Promise<void>;
}

/** Does it about as often as it says, one at a time, until the signal comes. */
export async function keepUp(
  { everyMs, act }: Habit,
  chance: Chance,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await pause(everyMs * (0.5 + chance()), signal);
    if (signal.aborted) return;
    await act();
  }
}
