import { readSync } from "node:fs";
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { endWithHost } from "./host-end.ts";

/** What the host writes as one line of JSON to a worker's standard input. */
export interface Launch {
  readonly secret: string;
  readonly socketPath: string;
  readonly workerId: string;
  readonly workerEpoch: number;
  readonly parentPid: number;
}

/** A launch line is a few hundred bytes; more is not ours. */
const LINE_BYTES_MAX = 64 * 1024;

/**
 * Reads the launch line and nothing beyond it. Blocking, because nothing else can
 * happen before it is known, and because standard input then belongs to the
 * watchdog.
 */
export function readLaunch(): Launch {
  const bytes: number[] = [];
  const one = Buffer.alloc(1);
  while (bytes.length < LINE_BYTES_MAX) {
    if (readSync(0, one, 0, 1, null) === 0)
      throw new Error("standard input ended before the launch line");
    const byte = one[0] ?? 0;
    if (byte === 0x0a) return parse(Buffer.from(bytes).toString());
    bytes.push(byte);
  }
  throw new Error("the launch line is too long");
}

function parse(line: string): Launch {
  // Written by our own host; what is missing shows itself at once.
  const launch = JSON.parse(line) as Partial<Launch>;
  const { secret, socketPath, workerId, workerEpoch, parentPid } = launch;
  if (secret === undefined || socketPath === undefined || workerId === undefined)
    throw new Error("the launch line lacks a field; a worker is started by a host only");
  return {
    secret,
    socketPath,
    workerId,
    workerEpoch: workerEpoch ?? 0,
    parentPid: parentPid ?? process.ppid,
  };
}

/**
 * Ends this process when its host is gone: at once through the end of standard
 * input, and, while the loop is blocked, through a thread that looks whose child
 * this process is. What the worker started is ended first, so that no command
 * outlives its run.
 */
export function startWatchdog({ parentPid }: Launch): void {
  // Beside this file, as the build leaves it or as it was written.
  const file = `watchdog${extname(import.meta.filename)}`;
  const thread = new Worker(join(import.meta.dirname, file), {
    workerData: { parentPid },
    // The thread waits and reads the process table; it needs next to nothing.
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  thread.unref();
  process.stdin.on("end", endWithHost).on("error", endWithHost).resume();
}
