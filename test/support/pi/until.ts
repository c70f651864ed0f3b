/** Waiting for what can be seen, with an error that says what was there instead. */
import { setTimeout as sleep } from "node:timers/promises";

/** What real programs need on a busy machine; a test that waits so long has failed. */
export const PATIENCE_MS = 20_000;
const POLL_MS = 10;

export interface UntilOptions {
  readonly timeoutMs?: number | undefined;
  /** Names what was waited for; asked only when it has not come. */
  readonly what: () => string;
}

/** The first value of `look` that is neither undefined nor false. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs = PATIENCE_MS, what }: UntilOptions,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what()}`);
    await sleep(POLL_MS);
  }
}
