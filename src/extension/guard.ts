/**
 * Every function that Pi or the machine calls goes through here: an exception
 * in a timer or a socket's callback, or a rejected promise that nobody waits
 * for, would end Pi itself.
 */

export interface Fault {
  readonly where: string;
  readonly error: Error;
}

const FAULTS_KEPT = 20;

export class Guard {
  readonly faults: Fault[] = [];
  #onFault: ((fault: Fault) => void) | undefined;

  /** Told of each new place that failed. It may fail itself. */
  onFault(listener: (fault: Fault) => void): void {
    this.#onFault = listener;
  }

  /** The same function; a failure is noted, and the result is `undefined`. */
  wrap<Args extends readonly unknown[], Result>(
    where: string,
    run: (...args: Args) => Result,
  ): (...args: Args) => Result | undefined {
    return (...args) => this.run(where, () => run(...args));
  }

  run<Result>(where: string, run: () => Result): Result | undefined {
    try {
      const result = run();
      // What catches has the type of what is caught, or nothing, as the signature says.
      return result instanceof Promise ? (this.#caught(where, result) as Result) : result;
    } catch (error) {
      this.note(where, error);
      return undefined;
    }
  }

  /** Like `run` for what is waited for: the promise never rejects. */
  async settle<Result>(where: string, run: () => Promise<Result>): Promise<Result | undefined> {
    return await this.run(where, run);
  }

  note(where: string, thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const isNew = !this.faults.some((fault) => fault.where === where);
    const fault = { where, error };
    this.faults.push(fault);
    if (this.faults.length > FAULTS_KEPT) this.faults.shift();
    if (!isNew) return;
    try {
      this.#onFault?.(fault);
    } catch {
      // Pi has left the session; nobody is there to be told.
    }
  }

  async #caught(where: string, result: Promise<unknown>): Promise<unknown> {
    try {
      return await result;
    } catch (error) {
      this.note(where, error);
      return undefined;
    }
  }
}
