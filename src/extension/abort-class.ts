/** What an aborted turn means: only the user's own wish pauses a run. */
import type { TurnEnd } from "./turn-facts.ts";

/** So long an abort waits for what may have caused it. */
export const ABORT_HOLD_MS = 250;

/** What came with or after an abort. */
export interface AbortSigns {
  /** Pi leaves the session: quit, /new, /resume, /fork or /reload. */
  readonly shutdown: boolean;
  /** The user asked to compact, and Pi stops the model first. */
  readonly manualCompact: boolean;
  /** The host asked to stop this turn. */
  readonly hostAsked: boolean;
}

/** The end of an aborted turn; absent while it cannot be told yet. */
export function classifyAbort(signs: AbortSigns, heldMs: number): TurnEnd | undefined {
  if (signs.shutdown || signs.manualCompact) return "lost";
  if (signs.hostAsked) return "stopped";
  return heldMs >= ABORT_HOLD_MS ? "aborted" : undefined;
}
