/** A log that takes an error of the host as a fault, unless the world has brought it about. */
import type { Log, LogFields } from "../../src/platform/log.ts";

/** What a full disk, a held lock, an old host or a process that does not start is told as. */
const EXPECTED: ReadonlySet<string> = new Set([
  "store.full",
  "launch.no_worker",
  "launch.failed",
  "activation.unsettled",
  "worker.exit_unrecorded",
]);

export function hostLog(fault: (text: string) => void): Log {
  const log: Log = {
    info: () => undefined,
    warn: () => undefined,
    error: (event: string, fields: LogFields = {}) => {
      if (!EXPECTED.has(event)) fault(`the host logged ${event}: ${inWords(fields)}`);
    },
    child: () => log,
  };
  return log;
}

function inWords({ error, ...fields }: LogFields): string {
  const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `${JSON.stringify(fields)} ${words}`;
}
