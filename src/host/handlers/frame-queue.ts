/** Frames that no worker of ours leaves unread: one that does is ended, and memory stays flat. */
const FRAMES_UNREAD_MAX = 10_000;

/** The way from whoever sends to whoever reads a stream, in order. */
export class FrameQueue<T> {
  readonly #onOverflow: () => void;
  #frames: T[] = [];
  #closed = false;
  #wake: (() => void) | undefined;

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

  /** What was pushed before is still read; a repeat does nothing. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *read(): AsyncGenerator<T> {
    for (;;) {
      const frames = this.#frames;
      this.#frames = [];
      yield* frames;
      if (this.#frames.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
