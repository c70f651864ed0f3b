import type { Clock, Timer } from "../../src/platform/clock.ts";
import type { FakeClock } from "../support/fake-clock.ts";

/** The timers of one host process: they are gone when the process is. */
export class HostClock implements Clock {
  readonly #world: FakeClock;
  readonly #timers = new Set<Timer>();
  #dead = false;

  constructor(world: FakeClock) {
    this.#world = world;
  }

  now(): number {
    return this.#world.now();
  }

  monotonic(): number {
    return this.#world.monotonic();
  }

  after(delayMs: number, run: () => void): Timer {
    return this.#keep((done) =>
      this.#world.after(delayMs, () => {
        done();
        run();
      }),
    );
  }

  every(periodMs: number, run: () => void): Timer {
    return this.#keep(() => this.#world.every(periodMs, run));
  }

  die(): void {
    this.#dead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #keep(start: (done: () => void) => Timer): Timer {
    if (this.#dead) return { cancel: () => undefined };
    const timer: Timer = {
      cancel: () => {
        this.#timers.delete(timer);
        inner.cancel();
      },
    };
    const inner = start(() => this.#timers.delete(timer));
    this.#timers.add(timer);
    return timer;
  }
}
