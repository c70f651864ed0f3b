import type { Clock, Timer } from "../../src/platform/clock.ts";

interface Pending {
  readonly number: number;
  due: number;
  readonly periodMs: number | undefined;
  readonly run: () => void;
}

/** A clock that stands still until a test moves it. Timers fire in order of their due times. */
export class FakeClock implements Clock {
  #wall: number;
  #monotonic = 0;
  #numbers = 0;
  readonly #pending = new Map<number, Pending>();

  constructor(wallMs: number = Date.UTC(2025, 0, 1)) {
    this.#wall = wallMs;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(delayMs: number, run: () => void): Timer {
    return this.#add(Math.max(0, delayMs), undefined, run);
  }

  every(periodMs: number, run: () => void): Timer {
    return this.#add(Math.max(1, periodMs), Math.max(1, periodMs), run);
  }

  /** Timers that have not fired or been cancelled. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Time passes evenly: every timer sees its own due time, a repeating one each of them. */
  advance(ms: number): void {
    const end = this.#monotonic + ms;
    for (let next = this.#nextDue(end); next !== undefined; next = this.#nextDue(end)) {
      this.#moveTo(Math.max(next.due, this.#monotonic));
      this.#fire(next, next.due);
    }
    this.#moveTo(end);
  }

  /** The process did not run for a while: everything due fires once, and late. */
  jump(ms: number): void {
    this.#moveTo(this.#monotonic + ms);
    const due = [...this.#pending.values()]
      .filter((timer) => timer.due <= this.#monotonic)
      .toSorted(inOrder);
    for (const timer of due) {
      if (this.#pending.has(timer.number)) this.#fire(timer, this.#monotonic);
    }
  }

  /** Somebody sets the wall clock; timers do not notice. */
  setWall(ms: number): void {
    this.#wall = ms;
  }

  #add(delayMs: number, periodMs: number | undefined, run: () => void): Timer {
    this.#numbers += 1;
    const number = this.#numbers;
    this.#pending.set(number, { number, due: this.#monotonic + delayMs, periodMs, run });
    return { cancel: () => this.#pending.delete(number) };
  }

  #nextDue(end: number): Pending | undefined {
    return [...this.#pending.values()].filter((timer) => timer.due <= end).toSorted(inOrder)[0];
  }

  #fire(timer: Pending, firedAt: number): void {
    if (timer.periodMs === undefined) this.#pending.delete(timer.number);
    else timer.due = firedAt + timer.periodMs;
    timer.run();
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }
}

function inOrder(left: Pending, right: Pending): number {
  return left.due - right.due || left.number - right.number;
}
