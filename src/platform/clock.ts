/** The only reader of time. Everything that waits takes a `Clock`, so that tests need not. */

/** Something that will happen once or repeatedly until it is cancelled. */
export interface Timer {
  /** Prevents what has not happened yet; a repeat does nothing. */
  cancel(): void;
}

export interface Clock {
  /** Wall-clock milliseconds since 1970. May jump in both directions. */
  now(): number;
  /** Milliseconds since some moment of this process. Never goes back. */
  monotonic(): number;
  /** Runs once, no sooner than `delayMs` from now. Takes any length; keeps no process alive. */
  after(delayMs: number, run: () => void): Timer;
  /** Runs again and again, the first time after one period. Keeps no process alive. */
  every(periodMs: number, run: () => void): Timer;
}

/** Node fires a timer at once when its delay exceeds 2^31 - 1 ms; longer waits are cut in pieces. */
const PIECE_MS_MAX = 2 ** 30;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: startTimer,
  every(periodMs, run) {
    const handle = setInterval(run, Math.min(Math.max(periodMs, 1), PIECE_MS_MAX));
    handle.unref();
    return { cancel: () => clearInterval(handle) };
  },
};

function startTimer(delayMs: number, run: () => void): Timer {
  const due = performance.now() + delayMs;
  let handle: NodeJS.Timeout;
  const arm = (): void => {
    const left = Math.max(0, due - performance.now());
    handle = left > PIECE_MS_MAX ? setTimeout(arm, PIECE_MS_MAX) : setTimeout(run, left);
    handle.unref();
  };
  arm();
  return { cancel: () => clearTimeout(handle) };
}
