import type { HostContext } from "../context.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";

/** What the system tells of workers and their files; tests put their own in its place. */
export interface ProcessProbe {
  /** State letter; absent when there is no such process. */
  readonly stateOf: (pid: number) => string | undefined;
  readonly cpuMsOf: (pid: number) => number | undefined;
  readonly bootId: () => string;
  /** Wall-clock time of a file's last change; `Infinity` when it cannot be told. */
  readonly changedAt: (path: string) => Promise<number>;
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
