/** Where the sessions of headless runs lie: a folder for each run, for as long as the run is kept. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { HostContext } from "../context.ts";

const RUN_ID = /^run_[0-9a-z]{1,64}$/;

/** Creates the folder where it is missing. Ids come from rows, and still nothing else becomes a path. */
export function sessionFolder(
  sessionsDir: string,
  runId: string,
): { readonly path: string; readonly isNew: boolean } {
  if (!RUN_ID.test(runId)) throw new Error("this is no id of a run");
  const path = join(sessionsDir, runId);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return { path, isNew: readdirSync(path).length === 0 };
}

/** The run was deleted, and with it goes what was said in it. */
export function removeSessions(sessionsDir: string, runId: string, host: HostContext): void {
  if (!RUN_ID.test(runId)) return;
  try {
    rmSync(join(sessionsDir, runId), { recursive: true, force: true });
  } catch (error) {
    // Tried again when a host starts next.
    host.log.warn("headless.session_kept", { runId, error });
  }
}

/** Folders of runs that were deleted while their removal failed, or in another host's last moment. */
export function sweepSessions(sessionsDir: string, host: HostContext): void {
  let names: readonly string[];
  try {
    names = readdirSync(sessionsDir);
  } catch (error) {
    host.log.warn("headless.sessions_unreadable", { error });
    return;
  }
  for (const name of names) {
    if (host.store.reader.runs.get(name) === undefined) removeSessions(sessionsDir, name, host);
  }
}
