/** The host that an extension has started by itself: it outlives Pi, so a test has to end it. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { knows, signalTo } from "./pi-process-check.ts";
import { until } from "./until.ts";

export interface StateHost {
  readonly pid: number;
  readonly running: () => boolean;
  /** Ends it as a stop of the machine would, and waits until it has gone. */
  stop(): Promise<void>;
  /** Ends it without warning, and waits until it has gone. */
  kill(): Promise<void>;
}

/** The host that says it serves this state folder; undefined when none does. */
export function readStateHost(stateFolder: string): StateHost | undefined {
  const pid = publishedPid(join(stateFolder, "host.json"));
  // The number of a process that has gone may belong to another one by now.
  const running = (): boolean => pid !== undefined && knows(pid, dirname(stateFolder));
  if (pid === undefined || !running()) return undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    signalTo(pid, signal);
    await until(() => !running(), { what: () => `the end of the host ${pid} after ${signal}` });
  };
  return { pid, running, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}

function publishedPid(file: string): number | undefined {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { readonly pid: number }).pid;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
