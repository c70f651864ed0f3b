/** The world outside the program, where effects happen and stay. */
import type { EffectPolicy } from "../../src/host/records.ts";

export class Outside {
  /** How often each key was really applied. */
  readonly #applied = new Map<string, number>();
  readonly #report: (fault: string) => void;

  constructor(report: (fault: string) => void) {
    this.#report = report;
  }

  has(key: string): boolean {
    return this.#applied.has(key);
  }

  /** The same key again is swallowed by a service that knows keys, and done twice by any other. */
  apply(key: string, policy: EffectPolicy): void {
    const times = (this.#applied.get(key) ?? 0) + 1;
    this.#applied.set(key, times);
    if (policy === "manual" && times > 1) {
      this.#report(`effect ${key} was applied ${times} times outside`);
    }
  }
}
