import { PAGE_MAX } from "../limits.ts";
import { system } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { RunRecord } from "../records.ts";
import { announceEnd } from "./session-messages.ts";

/**
 * Builds the result messages that an earlier host could not build. One that
 * cannot be built now either is left for the next start. Returns how many were.
 */
export async function rebuildMissingResults(host: HostContext): Promise<number> {
  const untold = host.store.reader.runs.endedUntold(PAGE_MAX);
  const told = await Promise.all(untold.map((run) => tellEnd(host, run)));
  return told.filter(Boolean).length;
}

function tellEnd(host: HostContext, { runId }: RunRecord): Promise<boolean> {
  return system(host, "result", (tx) => {
    const run = tx.runs.get(runId);
    if (run === undefined) return false;
    return announceEnd({ tx, run, at: host.clock.now() }) !== undefined;
  });
}
