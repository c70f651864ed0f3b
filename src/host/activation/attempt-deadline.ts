import type { Clock, Timer } from "../../platform/clock.ts";

/** A timer that fires so much too late tells that the host itself did not run. */
const LATE_MS = 1_000;

/**
 * The host's own watch over the open attempt's deadline. The worker is first in
 * line; this is for one whose loop is blocked, so it fires a grace later. It
 * counts monotonic time, which stands still while the machine sleeps.
 */
export class AttemptDeadline {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #overdue: () => void;
  #timer: Timer | undefined;

  constructor(clock: Clock, graceMs: number, overdue: () => void) {
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.#overdue = overdue;
  }

  /** Watches another attempt; absent means it may take for ever. */
  watch(timeoutMs: number | undefined): void {
    this.clear();
    if (timeoutMs !== undefined) this.#arm(timeoutMs + this.#graceMs);
  }

  /** Asks once more after another grace. */
  postpone(): void {
    this.clear();
    this.#arm(this.#graceMs);
  }

  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(delayMs: number): void {
    const due = this.#clock.monotonic() + delayMs;
    this.#timer = this.#clock.after(delayMs, () => {
      // What the worker sent while the host stood still has not been read yet.
      if (this.#clock.monotonic() - due > LATE_MS) this.postpone();
      else this.#overdue();
    });
  }
}
