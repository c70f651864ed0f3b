/** Streams that clients have open now: while there is one, somebody is looking. */
export class StreamCount {
  #count = 0;
  #onChange: () => void = () => undefined;

  get open(): number {
    return this.#count;
  }

  /** One listener, called whenever a stream opens or ends. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** The same messages, counted as one open stream until they end or their reader is gone. */
  async *count<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
    this.#add(1);
    try {
      yield* messages;
    } finally {
      this.#add(-1);
    }
  }

  #add(step: number): void {
    this.#count += step;
    this.#onChange();
  }
}
