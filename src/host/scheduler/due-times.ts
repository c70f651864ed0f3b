import type { Timer } from "../../platform/clock.ts";
import type { HostContext } from "../context.ts";
import { HostError } from "../errors.ts";
import { nextDue, settleDue } from "../operations/timers.ts";

/**
 * Deadlines, timers, back-offs and delayed runs: one timer for the earliest of
 * them, and a look at every tick, so that a wall clock that was set forward
 * makes everything due fire once.
 */
export class DueTimes {
  readonly #host: HostContext;
  readonly #onDue: () => void;
  #timer: Timer | undefined;
  #settling = false;
  /** What is due could not be settled: it is tried again at the next tick, not in a circle. */
  #stuck = false;
  #closed = false;

  /** `onDue` is called when something may have become runnable by the passing of time. */
  constructor(host: HostContext, onDue: () => void) {
    this.#host = host;
    this.#onDue = onDue;
  }

  /** Sets the timer for what is due next; what is due already is settled at once. */
  arm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#closed || this.#settling) return;
    const due = nextDue(this.#host);
    if (due === undefined) return;
    const delayMs = due - this.#host.clock.now();
    if (delayMs <= 0) {
      if (!this.#stuck) this.#settle();
    } else this.#timer = this.#host.clock.after(delayMs, () => this.#settle());
  }

  tick(): void {
    this.#stuck = false;
    this.arm();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  #settle(): void {
    this.#settling = true;
    settleDue(this.#host, this.#host.clock.now())
      .then((settled) => {
        this.#stuck = settled === 0;
      })
      .catch((error: unknown) => {
        this.#stuck = true;
        // A store that cannot write now may be able to at the next tick.
        if (!(error instanceof HostError)) this.#host.log.error("due.unsettled", { error });
      })
      .finally(() => {
        this.#settling = false;
        this.#onDue();
      });
  }
}
