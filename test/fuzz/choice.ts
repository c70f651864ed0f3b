import { numbers } from "../support/numbers.ts";

/** Choices that are the same for the same seed. */
export class Choice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = numbers(seed);
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.#next() * bound);
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("there is nothing to choose from");
    return item;
  }

  /** One of the words a computer is most often wrong about: 0, 1, powers of two and their neighbours. */
  edge(bits: number): bigint {
    const power = 1n << BigInt(this.below(bits + 1));
    return this.pick([0n, 1n, power - 1n, power, power + 1n]) & ((1n << BigInt(bits)) - 1n);
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)));
  }
}
