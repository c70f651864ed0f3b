/** Commands that are being worked on now, by their keys. */
import type { AskedCommand } from "../operations/canonical.ts";
import { keyConflict } from "./receipts.ts";

interface Flight<T> {
  readonly fingerprint: string;
  readonly answer: Promise<T>;
}

/**
 * Lets a second call with a key wait for the first instead of doing the same work
 * beside it. Only the first call begins; the work goes on when its caller goes away.
 */
export class InFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  async join(
    { command, method, fingerprint }: AskedCommand,
    begin: () => Promise<T>,
    asJoined: (answer: T) => T,
  ): Promise<T> {
    const flight = this.#flights.get(command.key);
    if (flight === undefined) return this.#begin(command.key, fingerprint, begin);
    if (flight.fingerprint !== fingerprint) throw keyConflict(command.key, method);
    return asJoined(await flight.answer);
  }

  async #begin(key: string, fingerprint: string, begin: () => Promise<T>): Promise<T> {
    // Whatever `begin` throws at once is an answer too.
    const answer = Promise.resolve().then(begin);
    this.#flights.set(key, { fingerprint, answer });
    try {
      return await answer;
    } finally {
      this.#flights.delete(key);
    }
  }
}
