/** For how long a provider's limit holds a session back. */
import { HOLD_BACKOFF_MS, HOLD_MS_MAX } from "../limits.ts";
import type { TurnErrorRecord } from "../records-sessions.ts";

/**
 * As long as the provider said, which the session has read from its header or its
 * words; else longer with each limit in a row. `before` is how many there were.
 */
export function holdMs(
  { retryAfterMs }: Pick<TurnErrorRecord, "retryAfterMs">,
  before: number,
): number {
  if (retryAfterMs !== undefined) return Math.min(Math.max(retryAfterMs, 1_000), HOLD_MS_MAX);
  return HOLD_BACKOFF_MS[before] ?? HOLD_BACKOFF_MS.at(-1) ?? 0;
}
