import type { Clock } from "../../platform/clock.ts";

/** Keys that are forgotten by themselves. */
export class ForATime {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #keepMs: number;
  readonly #until = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonic">, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  add(key: string): void {
    this.#until.set(key, this.#clock.monotonic() + this.#keepMs);
  }

  has(key: string): boolean {
    const now = this.#clock.monotonic();
    for (const [old, until] of this.#until) {
      if (until <= now) this.#until.delete(old);
    }
    return this.#until.has(key);
  }
}
