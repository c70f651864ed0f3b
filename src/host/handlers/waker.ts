/** Waking one reader of changing rows. */
import type { Clock } from "../../platform/clock.ts";

/**
 * Tells a reader that something it shows may have changed. It remembers that
 * there was a change and not which or how many, so a slow reader costs nothing:
 * it reads the present rows when it comes back.
 */
export class Waker {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #touched = false;
  #resume: (() => void) | undefined;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#resume?.(), { once: true });
  }

  touch(): void {
    this.#touched = true;
    this.#resume?.();
  }

  /** Returns at the next change, when the time is up or when the reader is gone. */
  async wait(timeoutMs: number): Promise<void> {
    if (!this.#touched) await this.#pause(timeoutMs);
    this.#touched = false;
  }

  /** Lets a moment pass. What changes meanwhile is what the next `wait` returns for. */
  async rest(durationMs: number): Promise<void> {
    if (this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#clock.after(durationMs, resolve);
    });
  }

  async #pause(timeoutMs: number): Promise<void> {
    if (this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(timeoutMs, resolve);
      this.#resume = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#resume = undefined;
  }
}
