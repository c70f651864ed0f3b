import { readSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { TAG_VARIABLE } from "../platform/process-identity.ts";

/** What the host writes as one line of JSON to a worker's standard input. */
export interface Launch {
  readonly secret: string;
  readonly socketPath: string;
  readonly workerId: string;
  readonly workerEpoch: number;
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
    if (readSync(0, one, 0, 1, null) === 0) throw new Error("standard input ended before the launch line");
    const byte = one[0] ?? 0;
    if (byte === 0x0a) return parse(Buffer.from(bytes).toString());
    bytes.push(byte);
  }
  throw new Error("the launch line is too long");
}

function parse(line: string): Launch {
  // Written by our own host; what is missing shows itself at once.
  const launch = JSON.parse(line) as Partial<Launch>;
  const { secret, socketPath, workerId, workerEpoch } = launch;
  if (secret === undefined || socketPath === undefined || workerId === undefined)
    throw new Error("the launch line lacks a field; a worker is started by a host only");
  return { secret, socketPath, workerId, workerEpoch: workerEpoch ?? 0 };
}

/**
 * Ends this process when the host is gone, also while its loop is blocked:
 * standard input then ends, which a thread of its own notices. It first ends every
 * process that carries this worker's tag, so that no command outlives its run.
 */
export function startWatchdog(): void {
  const tag = process.env[TAG_VARIABLE] ?? "";
  const watchdog = new Worker(WATCHDOG, {
    eval: true,
    workerData: { needle: tag === "" ? "" : `${TAG_VARIABLE}=${tag}` },
    // The thread waits and reads /proc; it needs next to nothing.
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
    stdin: false,
    env: {},
  });
  watchdog.unref();
}

const WATCHDOG = `
const { readSync, readdirSync, readFileSync } = require("node:fs");
const { needle } = require("node:worker_threads").workerData;
const buffer = Buffer.alloc(256);
for (;;) {
  try { if (readSync(0, buffer, 0, 256, null) === 0) break; } catch { break; }
}
const own = String(process.pid);
let names = [];
try { names = needle === "" ? [] : readdirSync("/proc"); } catch {}
for (const name of names) {
  if (!/^\\d+$/.test(name) || name === own) continue;
  try {
    if (readFileSync("/proc/" + name + "/environ", "latin1").split("\\0").includes(needle))
      process.kill(Number(name), "SIGKILL");
  } catch {}
}
process.kill(process.pid, "SIGKILL");
`;
