import { HostError } from "../errors.ts";
import type { RunRecord } from "../records.ts";

/**
 * Refuses a caller of another session than the one that shows the run's steps.
 * Programs and terminals name none, and are not refused.
 */
export function requireOrigin(run: RunRecord, sessionId: string | undefined): void {
  const { runId, originSession } = run;
  if (sessionId === undefined || sessionId === originSession) return;
  const place = originSession === undefined ? "no session" : `session ${originSession}`;
  throw new HostError("WRONG_SESSION", `run ${runId} belongs to ${place}, not to ${sessionId}`, {
    runId,
    names: originSession === undefined ? [] : [originSession],
  });
}
