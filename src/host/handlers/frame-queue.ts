/** Frames that no worker of ours leaves unread: one that does is ended, and memory stays flat. */
const FRAMES_UNREAD_MAX = 10_000;

/** The way from whoever sends to whoever reads a stream, in order. */
export class FrameQueue<T> {
  readonly #onOverflow: () => void;
  #frames: T[] = [];
  #closed = false;
  #wake: (() => void) | undefined;
  #onDrained: (() => void)[] = [];

  constructor(onOverflow: () => void) {
    this.#onOverflow = onOverflow;
  }

  push(frame: T): void {
    if (this.#closed) return;
    if (this.#frames.push(frame) > FRAMES_UNREAD_MAX) {
      this.#frames = [];
      this.close();
      this.#onOverflow();
    }
    this.#wake?.();
  }

  /** Resolves when the reader has taken all that was pushed, or will never take it. */
  async drained(): Promise<void> {
    if (this.#closed || this.#frames.length === 0) return;
    await new Promise<void>((resolve) => {
      this.#onDrained.push(resolve);
    });
  }

  /** What was pushed before is still read; a repeat does nothing. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
    this.#tellDrained();
  }

  async *read(): AsyncGenerator<T> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) {
        if (this.#frames.length === 0) this.#tellDrained();
        yield frame;
        continue;
      }
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  #tellDrained(): void {
    const waiting = this.#onDrained;
    this.#onDrained = [];
    for (const tell of waiting) tell();
  }
}
