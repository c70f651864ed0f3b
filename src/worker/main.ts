/**
 * A worker: a process that serves one activation of one run and ends. It writes
 * no state; it proposes, and the host decides.
 */
import * as api from "../workflow/index.ts";
import { systemClock } from "../platform/clock.ts";
import { keepAlive } from "../platform/keep-alive.ts";
import { packageVersion } from "../platform/package-info.ts";
import { Duties } from "./duties.ts";
import { installGuards } from "./guards.ts";
import { openHostStream } from "./host-link.ts";
import { endWithHost } from "./host-end.ts";
import { readLaunch, startWatchdog } from "./launch.ts";

/** How long a worker that reported its own end waits for the host to end it. */
const FAREWELL_MS = 5_000;
/** Ended by itself, or told to. */
const EXIT_DONE = 0;
/** Author code ended the process, and the host did not say so in time. */
const EXIT_AUTHOR = 70;

function main(): void {
  const launch = readLaunch();
  // Taken before author code can get hold of it and before the guards replace it.
  const leave = process.exit.bind(process);
  // What `import … from "pi-workflows"` in a workflow file gets (see definition/load.ts).
  Object.assign(globalThis, { [Symbol.for("pi-workflows.api")]: api });
  keepAlive();
  const duties: Duties = new Duties({
    workerId: launch.workerId,
    clock: systemClock,
    done: () => leave(EXIT_DONE),
    stream: openHostStream({
      ...launch,
      onOrder: (order) => duties.take(order),
      onEnd: endWithHost,
    }),
  });
  installGuards((failure) => {
    duties.fail(failure);
    systemClock.after(FAREWELL_MS, () => leave(EXIT_AUTHOR));
  });
  void duties.hello({ pid: process.pid, version: packageVersion() });
  startWatchdog(launch);
}

main();
