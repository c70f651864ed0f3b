import { PROGRESS_TEXT_BYTES_MAX } from "../limits.ts";
import { system } from "../store/doors.ts";
import type { HostContext } from "../context.ts";

export interface Update {
  readonly runId: string;
  readonly generation: number;
  readonly node: string;
  readonly text: string;
}

/**
 * Keeps the newest update of a node. It is no event, changes no revision and
 * renews no claim; one of a generation that does not own the run is dropped.
 */
export function writeProgress(host: HostContext, update: Update): Promise<void> {
  const { runId, generation, node } = update;
  return system(host, "progress", (tx) => {
    if (tx.claims.open(runId)?.generation !== generation) return;
    tx.put.progress({ runId, node, text: bounded(update.text), at: host.clock.now() });
  });
}

/** At most the documented number of bytes, and never half a character. */
function bounded(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= PROGRESS_TEXT_BYTES_MAX) return text;
  return bytes
    .subarray(0, PROGRESS_TEXT_BYTES_MAX)
    .toString()
    .replace(/\uFFFD+$/, "");
}
