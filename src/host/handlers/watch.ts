/**
 * The pace of a stream that shows rows: subscribe first, then read, and read
 * again after each change. There is never a queue, so states are skipped for a
 * slow reader and the last one is not.
 */
import type { Clock } from "../../platform/clock.ts";
import { HEARTBEAT_MS, WATCH_INTERVAL_MS } from "../limits.ts";
import { Waker } from "./waker.ts";

/** One look at the rows. */
export interface Look<T> {
  /** What to send; absent when nothing changed since the last look. */
  readonly message?: T;
  /** True when nothing can follow. */
  readonly last: boolean;
}

export interface WatchSource<T> {
  /** Calls back after each change until it is told to stop. */
  subscribe(touch: () => void): () => void;
  look(): Look<T> | Promise<Look<T>>;
  heartbeat(): T;
  /** Looks at least so often, for what changes without telling. */
  readonly pollMs: number;
}

export async function* watch<T>(
  clock: Clock,
  signal: AbortSignal,
  source: WatchSource<T>,
): AsyncGenerator<T> {
  const waker = new Waker(clock, signal);
  const unsubscribe = source.subscribe(() => waker.touch());
  try {
    let sentAt = clock.monotonic();
    for (;;) {
      // A reader must never take the host's end for the end of what it watches.
      signal.throwIfAborted();
      const { message, last } = await source.look();
      const silentMs = clock.monotonic() - sentAt;
      if (message !== undefined || silentMs >= HEARTBEAT_MS) {
        yield message ?? source.heartbeat();
        sentAt = clock.monotonic();
      }
      if (last) return;
      await pace(waker, { changed: message !== undefined, silentMs, pollMs: source.pollMs });
    }
  } finally {
    unsubscribe();
  }
}

/** A burst of changes is one message: after a change the next look waits a moment. */
async function pace(
  waker: Waker,
  { changed, silentMs, pollMs }: { changed: boolean; silentMs: number; pollMs: number },
): Promise<void> {
  if (changed) await waker.rest(WATCH_INTERVAL_MS);
  const untilHeartbeat = changed ? HEARTBEAT_MS : Math.max(1, HEARTBEAT_MS - silentMs);
  await waker.wait(Math.min(untilHeartbeat, pollMs));
}
