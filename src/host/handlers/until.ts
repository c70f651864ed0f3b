/**
 * Reads on until the signal aborts, then throws its reason. A handler that waits
 * for the next message of its peer is not woken by a shutdown otherwise.
 */
export async function* until<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  // One listener for all messages: racing each of them against a promise of the
  // abort would leave something behind for every message of a long stream.
  let interrupt: (() => void) | undefined;
  const abort = (): void => interrupt?.();
  signal.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        interrupt = () => reject(signal.reason);
        if (signal.aborted) interrupt();
        else iterator.next().then(resolve, reject);
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
