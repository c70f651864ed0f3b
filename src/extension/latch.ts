/**
 * The message that was handed to Pi and is not seen on the branch yet. Nothing
 * else is sent meanwhile: what Pi holds in its own queues nobody can see, and
 * the Escape key drops it.
 */

/** Idle for so long without it, Pi has dropped it. */
export const LATCH_IDLE_MS = 10_000;

export class Latch {
  #messageId: string | undefined;
  #laterRun = false;
  #idleSince: number | undefined;

  get messageId(): string | undefined {
    return this.#messageId;
  }

  set(messageId: string): void {
    this.#messageId = messageId;
    this.#laterRun = false;
    this.#idleSince = undefined;
  }

  runStarted(): void {
    this.#laterRun = true;
    this.#idleSince = undefined;
  }

  /** A run that began after the message was handed over has ended without it. */
  settled(isOnBranch: (messageId: string) => boolean): void {
    if (this.#messageId === undefined) return;
    if (this.#laterRun || isOnBranch(this.#messageId)) this.#release();
  }

  /** Looks again; releases when it is seen, or when Pi was idle without it for long enough. */
  look(now: number, idle: boolean, isOnBranch: (messageId: string) => boolean): void {
    if (this.#messageId === undefined) return;
    if (isOnBranch(this.#messageId)) return this.#release();
    if (!idle) this.#idleSince = undefined;
    else this.#idleSince ??= now;
    if (this.#idleSince !== undefined && now - this.#idleSince >= LATCH_IDLE_MS) this.#release();
  }

  #release(): void {
    this.#messageId = undefined;
    this.#idleSince = undefined;
  }
}
