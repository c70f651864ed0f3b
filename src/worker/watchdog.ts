/**
 * A thread of a worker that ends the worker when its host is gone, also while
 * the worker's loop is blocked. It looks whose child the worker is; a thread
 * that waited on standard input instead would be blocked in a read and keep the
 * process from exiting.
 */
import { workerData } from "node:worker_threads";
import { endWithHost } from "./host-end.ts";

/** How long a blocked worker may outlive its host. */
const LOOK_PERIOD_MS = 200;

// Handed over by `startWatchdog` in launch.ts.
const { parentPid } = workerData as { readonly parentPid: number };
const never = new Int32Array(new SharedArrayBuffer(4));
while (process.ppid === parentPid) Atomics.wait(never, 0, 0, LOOK_PERIOD_MS);
endWithHost();
