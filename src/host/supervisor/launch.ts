/** How a worker is started, and what it is told before it says anything. */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { cleanEnvironment } from "../../platform/child-environment.ts";
import { TAG_VARIABLE } from "../../platform/process-identity.ts";

/** The one line on a worker's standard input, which then stays open: its end is the host's end. */
export interface LaunchLine {
  readonly secret: string;
  readonly socketPath: string;
  readonly workerId: string;
  readonly workerEpoch: number;
  readonly hostVersion: string;
  readonly parentPid: number;
  /** True when nothing else ends a blocked worker whose host is gone. */
  readonly watchdog: boolean;
}

/** Programs of util-linux that bound a child from its first instruction, where they work. */
export interface LaunchTools {
  /** Lets the kernel kill the child with its host. */
  readonly setpriv: string | undefined;
  /** Lets an allocation fail in the child before it fails for everybody. */
  readonly prlimit: string | undefined;
}

export const NO_TOOLS: LaunchTools = { setpriv: undefined, prlimit: undefined };

/** Node needs this beside its heap, for code, threads and buffers. */
const BESIDE_HEAP_MB = 384;
const PROBE_TIMEOUT_MS = 2_000;
const USUAL_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** Finds the tools that exist and do what is asked of them; a busybox often does not. */
export async function findLaunchTools(): Promise<LaunchTools> {
  if (process.platform !== "linux") return NO_TOOLS;
  const setpriv = findProgram("setpriv");
  const prlimit = findProgram("prlimit");
  const [dies, bounds] = await Promise.all([
    setpriv !== undefined && succeeds(setpriv, [...DEATH_ARGS, "true"]),
    prlimit !== undefined && succeeds(prlimit, [...dataArgs(4_096), "true"]),
  ]);
  return { setpriv: dies ? setpriv : undefined, prlimit: bounds ? prlimit : undefined };
}

/**
 * The command that starts a worker. The tools replace themselves by what they
 * start, so the process keeps its id and its group.
 */
export function launchCommand(
  tools: LaunchTools,
  { workerPath, memoryMb }: { readonly workerPath: string; readonly memoryMb: number },
): readonly [string, ...string[]] {
  const node = [
    process.execPath,
    `--max-old-space-size=${Math.max(memoryMb - BESIDE_HEAP_MB, 128)}`,
    workerPath,
  ] as const;
  const bounded =
    tools.prlimit === undefined ? node : ([tools.prlimit, ...dataArgs(memoryMb), ...node] as const);
  return tools.setpriv === undefined ? [...bounded] : [tools.setpriv, ...DEATH_ARGS, ...bounded];
}

/** The host's own environment and the tag by which everything that descends from the worker is found. */
export function launchEnvironment(tag: string): Record<string, string> {
  return { ...cleanEnvironment(), [TAG_VARIABLE]: tag };
}

const DEATH_ARGS = ["--pdeathsig", "SIGKILL", "--"] as const;

/** The soft limit only: a command that needs more may raise its own. */
function dataArgs(megabytes: number): readonly string[] {
  return [`--data=${megabytes * 1_048_576}:`, "--"];
}

function findProgram(name: string): string | undefined {
  const folders = (cleanEnvironment()["PATH"] ?? "").split(delimiter).filter((part) => part !== "");
  return [...folders, ...USUAL_FOLDERS].map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PROBE_TIMEOUT_MS }, (error) => resolve(error === null));
  });
}
