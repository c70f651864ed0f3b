/**
 * The host's process. It is started by whoever needs it, says nothing when all
 * is well, and one line on standard error when it cannot start.
 */
import { join } from "node:path";
import { systemClock } from "../platform/clock.ts";
import { keepAlive } from "../platform/keep-alive.ts";
import { openLog } from "../platform/log.ts";
import type { Log } from "../platform/log.ts";
import { packageVersion } from "../platform/package-info.ts";
import { readSettings } from "../platform/settings.ts";
import { prepareStateFolder, statePaths } from "../platform/state-folder.ts";
import type { Host } from "./host.ts";

/** It ended in order, or the folder has a host already. */
const EXIT_OK = 0;
/** A fault of ours. */
const EXIT_FAULT = 70;
/** The state is in doubt or was taken away. */
const EXIT_STATE = 74;
/** It could not start: state folder, settings, database or socket; the message says how to mend it. */
const EXIT_REFUSED = 5;
/** Somebody pressed Ctrl-C a second time. */
const EXIT_FORCED = 130;

async function main(): Promise<void> {
  process.on("SIGHUP", () => undefined);
  // Our timers keep nothing alive, and a start may wait for a lock with nothing but a timer.
  keepAlive();
  const paths = statePaths();
  prepareStateFolder(paths);
  const settings = readSettings(paths.folder);
  const log = openLog(paths.log, systemClock, {
    maxBytes: settings.logBytesMax,
    keep: settings.logFilesKept,
  });
  guard(log);
  const host = await start(log, () =>
    import("./host.ts").then(({ startHost }) =>
      startHost({
        paths,
        settings,
        clock: systemClock,
        log,
        workerPath: join(import.meta.dirname, "worker.cjs"),
        version: packageVersion(),
        onFatal: (reason, error) => {
          log.error("host.ended", { reason, error });
          // Whoever started it just now has nothing else to tell.
          complain(error === undefined ? reason : `${reason} (${messageOf(error)})`);
          process.exit(EXIT_STATE);
        },
      }),
    ),
  );
  if (host === undefined) process.exit(EXIT_OK);
  stopOnSignals(host);
  await host.stopped;
  process.exit(EXIT_OK);
}

async function start(log: Log, begin: () => Promise<Host | undefined>): Promise<Host | undefined> {
  try {
    return await begin();
  } catch (error) {
    log.error("host.not_started", { error });
    throw error;
  }
}

/** Nothing of ours can be trusted after a fault nobody expected; what is stored can. */
function guard(log: Log): void {
  const end = (event: string) => (error: unknown) => {
    log.error(event, { error });
    process.exit(EXIT_FAULT);
  };
  process.on("uncaughtException", end("host.uncaught_exception"));
  process.on("unhandledRejection", end("host.unhandled_rejection"));
}

function stopOnSignals(host: Host): void {
  let asked = false;
  process.on("SIGTERM", () => host.stop("SIGTERM", false));
  process.on("SIGINT", () => {
    if (asked) process.exit(EXIT_FORCED);
    asked = true;
    sayStopping(host.applying());
    host.stop("SIGINT", false);
  });
}

/** Read by whoever pressed Ctrl-C; a host in the background has nobody on its standard error. */
function sayStopping(effects: number): void {
  const what = effects === 1 ? "1 effect that is" : `${effects} effects that are`;
  const wait = effects === 0 ? "" : `; waiting for ${what} being applied`;
  process.stderr.write(`stopping${wait}; Ctrl-C again does not wait\n`);
}

function complain(message: string): void {
  process.stderr.write(`pi-workflows host: ${message.replaceAll("\n", " ")}\n`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

main().catch((error: unknown) => {
  complain(messageOf(error));
  process.exit(EXIT_REFUSED);
});
