/** Node fires a timer at once when its delay exceeds 2^31 - 1 ms. */
const PERIOD_MS = 2 ** 30;

/**
 * Keeps this process from ending while it waits for something that does not:
 * our timers never do. Returns what lets go again.
 */
export function keepAlive(): () => void {
  const handle = setInterval(() => undefined, PERIOD_MS);
  return () => clearInterval(handle);
}
