import type { Clock, Timer } from "../platform/clock.ts";
import { PROGRESS_WRITE_INTERVAL_MS } from "./limits.ts";

/**
 * Keeps the newest update of each node of a run. It is written at most once per
 * interval; what is overtaken in between is never written.
 */
export class ProgressWriter {
  readonly #clock: Clock;
  readonly #write: (node: string, text: string) => void;
  readonly #newest = new Map<string, string>();
  #timer: Timer | undefined;

  constructor(clock: Clock, write: (node: string, text: string) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  publish(node: string, text: string): void {
    this.#newest.set(node, text);
    if (this.#timer === undefined) this.#flush();
  }

  /** Writes what is still held, and nothing any more after that. */
  close(): void {
    this.#timer?.cancel();
    this.#flush();
    this.#timer?.cancel();
  }

  #flush(): void {
    this.#timer = undefined;
    if (this.#newest.size === 0) return;
    for (const [node, text] of this.#newest) this.#write(node, text);
    this.#newest.clear();
    this.#timer = this.#clock.after(PROGRESS_WRITE_INTERVAL_MS, () => this.#flush());
  }
}
