/** For how long a provider's limit holds a session back. */
import { HOLD_BACKOFF_MS, HOLD_MS_MAX } from "../limits.ts";
import type { TurnErrorRecord } from "../records-sessions.ts";

/** A provider whose word was wrong so often in a row is not believed any more. */
const BELIEVED_MAX = 5;

/**
 * As long as the provider said, which the session has read from its header or its
 * words; else longer with each limit in a row. `before` is how many there were.
 * Nothing else counts them: a word that is always too short, or names a time that
 * has passed, must not fill the session with the same request.
 */
export function holdMs(
  { retryAfterMs }: Pick<TurnErrorRecord, "retryAfterMs">,
  before: number,
): number {
  if (retryAfterMs === undefined) return backOff(before);
  const least = before < BELIEVED_MAX ? 1_000 : backOff(before - BELIEVED_MAX);
  return Math.min(Math.max(retryAfterMs, least), HOLD_MS_MAX);
}

function backOff(before: number): number {
  return HOLD_BACKOFF_MS[before] ?? HOLD_BACKOFF_MS.at(-1) ?? 0;
}
