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
  /** When the timer fires, and when it means something; both in monotonic time. */
  #firesAt = Infinity;
  #due = Infinity;

  constructor(clock: Clock, graceMs: number, overdue: () => void) {
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.#overdue = overdue;
  }

  /** Watches another attempt; absent means it may take for ever. */
  watch(timeoutMs: number | undefined): void {
    if (timeoutMs === undefined) this.clear();
    else this.#wait(timeoutMs + this.#graceMs);
  }

  /** Asks once more after another grace. */
  postpone(): void {
    this.#wait(this.#graceMs);
  }

  clear(): void {
    this.#due = Infinity;
    this.#disarm();
  }

  /** A thousand attempts a second do not set a thousand timers: one that fires early is set again. */
  #wait(delayMs: number): void {
    this.#due = this.#clock.monotonic() + delayMs;
    if (this.#firesAt > this.#due) this.#arm(delayMs);
  }

  #arm(delayMs: number): void {
    this.#disarm();
    this.#firesAt = this.#clock.monotonic() + delayMs;
    this.#timer = this.#clock.after(delayMs, () => this.#fired());
  }

  #fired(): void {
    const lateMs = this.#clock.monotonic() - this.#firesAt;
    const leftMs = this.#due - this.#clock.monotonic();
    this.#disarm();
    if (leftMs > 0) this.#arm(leftMs);
    // What the worker sent while the host stood still has not been read yet.
    else if (lateMs > LATE_MS) this.postpone();
    else this.#overdue();
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#firesAt = Infinity;
  }
}
