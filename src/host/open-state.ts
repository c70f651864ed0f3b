/** Opening the database when the host starts, also while somebody else holds it for a moment. */
import { identityOf } from "../platform/process-identity.ts";
import type { Clock } from "../platform/clock.ts";
import { crashPoint } from "../platform/crash-points.ts";
import type { Log } from "../platform/log.ts";
import type { Settings } from "../platform/settings.ts";
import type { StatePaths } from "../platform/state-folder.ts";
import { OPEN_BUDGET_MS } from "./limits.ts";
import { takeEpoch } from "./store/doors.ts";
import { openStore } from "./store/store.ts";
import type { Store } from "./store/store.ts";
import { StoreRefusedError } from "./store/store-refused-error.ts";

const RETRY_MS = 50;

export interface OpenOptions {
  readonly paths: StatePaths;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly settings: Pick<Settings, "commitWrites">;
  /** The outcome of a COMMIT is unknown: the process must end without another word. */
  readonly onFatal: (error: unknown) => void;
}

/** What identifies this process among all hosts of the folder, past and to come. */
export interface HostIdentity {
  readonly epoch: number;
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
}

/** Opens or makes the database. A lock of another program is waited for, everything else refused. */
export async function openWhenFree(options: OpenOptions): Promise<Store> {
  const { paths, clock, log, onFatal, settings } = options;
  const deadline = clock.monotonic() + OPEN_BUDGET_MS;
  for (;;) {
    try {
      return openStore({
        path: paths.database,
        guarded: [paths.lock],
        clock,
        log,
        crash: crashPoint,
        batchWrites: settings.commitWrites,
        onFatal,
      });
    } catch (error) {
      if (!isLocked(error) || clock.monotonic() >= deadline) throw error;
    }
    await new Promise<void>((resolve) => {
      clock.after(RETRY_MS, resolve);
    });
  }
}

/** From now on no earlier host can write. */
export async function beginEpoch(
  store: Store,
  { clock, version }: Pick<OpenOptions, "clock" | "version">,
): Promise<HostIdentity> {
  const self = identityOf(process.pid);
  if (self === undefined) throw new Error("this process is not in the process table");
  const startedAt = clock.now();
  const epoch = await takeEpoch(store, { ...self, version, startedAt });
  return { ...self, epoch, startedAt };
}

function isLocked(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof StoreRefusedError) return /locked|busy/i.test(error.message);
  return "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}
