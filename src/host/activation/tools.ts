import type { HostContext } from "../context.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";

/** What the system tells of workers and their files; tests put their own in its place. */
export interface ProcessProbe {
  /** State letter; absent when there is no such process. */
  readonly stateOf: (pid: number) => string | undefined;
  readonly cpuMsOf: (pid: number) => number | undefined;
  readonly bootId: () => string;
  /** Wall-clock time of a file's last change; `Infinity` when it cannot be told. */
  readonly changedAt: (path: string) => number;
}

/** The process table says that a process is stopped or traced. */
const STOPPED_STATES: ReadonlySet<string> = new Set(["T", "t"]);

/** Whether a process is there and would go on by itself. */
export function isRunnable(probe: Pick<ProcessProbe, "stateOf">, pid: number): boolean {
  const state = probe.stateOf(pid);
  return state !== undefined && !STOPPED_STATES.has(state);
}

export interface ActivationSettings {
  readonly renewMs: number;
  readonly loopBlockedMs: number;
  readonly verdictGraceMs: number;
}

/** What every activation works with. */
export interface ActivationTools {
  readonly host: HostContext;
  readonly supervisor: Pick<Supervisor, "endTree">;
  readonly settings: ActivationSettings;
  readonly probe: ProcessProbe;
  /** Folder for transformed sources. */
  readonly cacheDir: string;
  /** Aborts when the host stops: what cannot be written by then, recovery decides. */
  readonly givenUp: AbortSignal;
}
