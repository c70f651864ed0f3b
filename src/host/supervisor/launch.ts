/** How a worker is started, and what it is told before it says anything. */
import { execFile } from "node:child_process";
import { delimiter } from "node:path";
import { cleanEnvironment } from "../../platform/child-environment.ts";
import { TAG_VARIABLE } from "../../platform/process-identity.ts";
import { programOnPath } from "../../platform/search-path.ts";

/** The one line on a worker's standard input, which then stays open: its end is the host's end. */
export interface LaunchLine {
  readonly secret: string;
  readonly socketPath: string;
  readonly workerId: string;
  readonly workerEpoch: number;
  readonly hostVersion: string;
  readonly parentPid: number;
}

/** Node needs this beside its heap, for code, threads and buffers. */
const BESIDE_HEAP_MB = 384;
const PROBE_TIMEOUT_MS = 2_000;
const USUAL_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/**
 * The `prlimit` of util-linux, where it exists and does what is asked of it: with
 * it an allocation fails in one worker before it fails for everybody.
 */
export async function findPrlimit(): Promise<string | undefined> {
  const found = process.platform === "linux" ? findProgram("prlimit") : undefined;
  const works = found !== undefined && (await succeeds(found, [...dataArgs(4_096), "true"]));
  return works ? found : undefined;
}

/**
 * The command that starts a worker. `prlimit` replaces itself by what it starts,
 * so the process keeps its id and its group.
 *
 * Nothing here lets the kernel kill a worker with its host (`setpriv
 * --pdeathsig`): it would be quicker than the worker's own watchdog, which ends
 * the worker's commands first.
 */
export function launchCommand(
  prlimit: string | undefined,
  { workerPath, memoryMb }: { readonly workerPath: string; readonly memoryMb: number },
): readonly [string, ...string[]] {
  const node = [
    process.execPath,
    `--max-old-space-size=${Math.max(memoryMb - BESIDE_HEAP_MB, 128)}`,
    workerPath,
  ] as const;
  return prlimit === undefined ? [...node] : [prlimit, ...dataArgs(memoryMb), ...node];
}

/** The host's own environment and the tag by which everything that descends from the worker is found. */
export function launchEnvironment(tag: string): Record<string, string> {
  return { ...cleanEnvironment(), [TAG_VARIABLE]: tag };
}

/** The soft limit only: a command that needs more may raise its own. */
function dataArgs(megabytes: number): readonly string[] {
  return [`--data=${megabytes * 1_048_576}:`, "--"];
}

function findProgram(name: string): string | undefined {
  const folders = [cleanEnvironment()["PATH"] ?? "", ...USUAL_FOLDERS];
  return programOnPath(name, folders.join(delimiter));
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PROBE_TIMEOUT_MS }, (error) => resolve(error === null));
  });
}
