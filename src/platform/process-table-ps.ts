/** The process table where there is no /proc (macOS): what `ps` prints. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

export interface ProcessRow {
  readonly pid: number;
  readonly pgid: number;
  /** First letter of the state. */
  readonly state: string;
  readonly cpuMs: number;
  readonly startTime: string;
}

const ROW = /^\s*(\d+)\s+(\d+)\s+(\S)\S*\s+([\d:.-]+)\s+(.+?)\s*$/;

let proc: boolean | undefined;

/** True where /proc tells everything at a fraction of the price. */
export function hasProc(): boolean {
  proc ??= existsSync("/proc/self/stat");
  return proc;
}

/** All processes, or the one asked for; empty when it does not exist. */
export function psTable(pid?: number): readonly ProcessRow[] {
  const which = pid === undefined ? ["-A"] : ["-p", String(pid)];
  return ps([...which, "-o", "pid=,pgid=,stat=,time=,lstart="]).flatMap((line) => {
    const match = ROW.exec(line);
    if (match === null) return [];
    const [, id = "", pgid = "", state = "", time = "", startTime = ""] = match;
    return [{ pid: Number(id), pgid: Number(pgid), state, cpuMs: readTime(time), startTime }];
  });
}

/** Processes that carry the variable, with its value; only one's own show their environment. */
export function psTagged(variable: string): readonly { pid: number; tag: string }[] {
  const entry = new RegExp(String.raw`^\s*(\d+)\s.*\s${variable}=(\S+)`);
  return ps(["-A", "-E", "-ww", "-o", "pid=,command="]).flatMap((line) => {
    const match = entry.exec(line);
    return match === null ? [] : [{ pid: Number(match[1]), tag: match[2] ?? "" }];
  });
}

/** `[days-][hours:]minutes:seconds[.hundredths]` in milliseconds. */
function readTime(text: string): number {
  const [days = "0", clock = ""] = text.includes("-") ? text.split("-") : ["0", text];
  const seconds = clock.split(":").reduce((total, part) => total * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1_000;
}

function ps(args: readonly string[]): readonly string[] {
  try {
    const options = { encoding: "utf8", env: { LC_ALL: "C", PATH: "/bin:/usr/bin" } } as const;
    return execFileSync("ps", args, { ...options, stdio: ["ignore", "pipe", "ignore"] }).split(
      "\n",
    );
  } catch {
    // `ps -p` of a process that does not exist ends with 1.
    return [];
  }
}
