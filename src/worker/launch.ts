import { readdirSync, readFileSync, readSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { ownTag, TAG_VARIABLE } from "../platform/process-identity.ts";

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
 * input, and, while the loop is blocked, through a thread of its own that looks
 * whose child this process is. Every process that carries this worker's tag is
 * ended first, so that no command outlives its run.
 *
 * The thread does not wait on standard input: a thread that is blocked in a read
 * would keep the process from exiting.
 */
export function startWatchdog({ parentPid }: Launch): void {
  const thread = new Worker(`(${watch.toString()})(${endTree.toString()})`, {
    eval: true,
    workerData: { needle: needleOf(), parentPid, periodMs: LOOK_PERIOD_MS },
    // The thread waits and reads /proc; it needs next to nothing.
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
    env: {},
  });
  thread.unref();
  process.stdin.on("end", endWithHost).on("error", endWithHost).resume();
}

/** The host is gone: ends what this worker started, then the worker. */
export function endWithHost(): void {
  endTree(needleOf(), { readdirSync, readFileSync });
}

function needleOf(): string {
  const tag = ownTag();
  return tag === undefined ? "" : `${TAG_VARIABLE}=${tag}`;
}

/** How long a blocked worker may outlive its host. */
const LOOK_PERIOD_MS = 200;

type Files = Pick<typeof import("node:fs"), "readdirSync" | "readFileSync">;

/** Runs as the source of a thread, so it uses nothing of this module. */
function watch(end: (needle: string, files: Files) => void): void {
  const { workerData } = process.getBuiltinModule("node:worker_threads");
  const { needle, parentPid, periodMs } = workerData as {
    readonly needle: string;
    readonly parentPid: number;
    readonly periodMs: number;
  };
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (process.ppid === parentPid) Atomics.wait(never, 0, 0, periodMs);
  end(needle, process.getBuiltinModule("node:fs"));
}

/** Ends all processes with the tag, and this one last. Used in the thread too: no names from outside. */
function endTree(needle: string, { readdirSync, readFileSync }: Files): void {
  const tagged = (name: string): boolean => {
    if (needle === "" || !/^\d+$/.test(name) || name === String(process.pid)) return false;
    try {
      return readFileSync(`/proc/${name}/environ`, "latin1").split("\0").includes(needle);
    } catch {
      // It ended, or it is somebody else's.
      return false;
    }
  };
  const kill = (name: string): void => {
    try {
      process.kill(Number(name), "SIGKILL");
    } catch {
      // It ended meanwhile.
    }
  };
  let names: string[] = [];
  try {
    names = readdirSync("/proc");
  } catch {
    // No /proc here: the next host finds what is left (see supervisor).
  }
  names.filter(tagged).forEach(kill);
  process.kill(process.pid, "SIGKILL");
}
