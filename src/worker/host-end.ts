import { eachTagged, ownTag } from "../platform/process-identity.ts";

/** The host is gone: ends what this worker started, then the worker itself, and does not return. */
export function endWithHost(): void {
  const tag = ownTag();
  if (tag !== undefined) {
    for (const { pid } of eachTagged(tag)) if (pid !== process.pid) kill(pid);
  }
  kill(process.pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended meanwhile.
  }
}
