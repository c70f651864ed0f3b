/** The session of a headless run's own Pi, told by its id from all others. */

const PREFIX = "wf-";

export function headlessSession(runId: string): string {
  return `${PREFIX}${runId}`;
}

/** The run whose session this would be; absent for the id of another session. */
export function runOfHeadlessSession(sessionId: string): string | undefined {
  return sessionId.startsWith(PREFIX) ? sessionId.slice(PREFIX.length) : undefined;
}
