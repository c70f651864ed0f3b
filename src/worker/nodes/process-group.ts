import { systemClock } from "../../platform/clock.ts";
import { groupMembers, groupOf } from "../../platform/process-identity.ts";

/** How long a group that was asked to end may take before it is ended by force. */
export const TERM_GRACE_MS = 2_000;

const POLL_MS = 20;

/** Whether a signal would reach anybody: the group still has a member, be it a zombie. */
export function groupExists(group: number): boolean {
  return signalGroup(group, 0);
}

/**
 * Signals a whole process group. Refuses a number that would address every
 * process, init, or the group that this worker itself belongs to, which is what
 * a child that was not made a group leader would lead to.
 */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  if (!Number.isSafeInteger(group) || group <= 1 || group === groupOf(process.pid)) return false;
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    // Nobody is left, or nobody whom we may signal.
    return false;
  }
}

/**
 * Ends what a command left running in its group: a request, then force. Resolves
 * when no living member is left.
 */
export async function endGroup(group: number): Promise<void> {
  if (!signalGroup(group, "SIGTERM")) return;
  const patienceEnds = systemClock.monotonic() + TERM_GRACE_MS;
  while (groupMembers(group).length > 0) {
    if (systemClock.monotonic() >= patienceEnds) signalGroup(group, "SIGKILL");
    await pause(POLL_MS);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.after(ms, resolve);
  });
}
