import type { ChildProcess } from "node:child_process";
import { systemClock } from "../../platform/clock.ts";
import type { Timer } from "../../platform/clock.ts";

/** A process that was left behind and writes now and then is listened to, a silent one is not. */
const SILENCE_MS = 500;

/** However much it writes, the step ends. */
const DRAIN_MS_MAX = 5_000;

/**
 * Resolves when the output of a process that has exited is read: when its pipes
 * are closed, or, where somebody it left behind holds them, after a short
 * silence. The pipes are closed on this side afterwards.
 */
export function drained(child: ChildProcess): Promise<void> {
  const streams = [child.stdout, child.stderr].flatMap((stream) => stream ?? []);
  return new Promise((resolve) => {
    let silence: Timer | undefined;
    const listen = (): void => {
      silence?.cancel();
      silence = systemClock.after(SILENCE_MS, done);
    };
    const limit = systemClock.after(DRAIN_MS_MAX, done);
    function done(): void {
      silence?.cancel();
      limit.cancel();
      for (const stream of streams) stream.destroy();
      resolve();
    }
    if (streams.every((stream) => stream.closed)) {
      done();
      return;
    }
    for (const stream of streams) stream.on("data", listen);
    child.once("close", done);
    listen();
  });
}
