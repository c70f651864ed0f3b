/** How a write ended. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/**
 * Hands the outcomes of writes over in the order in which the writes were begun,
 * however they overtake one another. Nothing waits for an earlier write to begin.
 */
export class AnswerQueue {
  #last: Promise<void> = Promise.resolve();
  #open = 0;

  /** Writes whose outcome was not handed over yet. */
  get open(): number {
    return this.#open;
  }

  add<T>(write: Promise<T>, deliver: (outcome: Outcome<T>) => void): void {
    const outcome = outcomeOf(write);
    this.#open += 1;
    this.#last = this.#deliver(this.#last, outcome, deliver);
  }

  /** Resolves when every outcome was handed over, those added meanwhile included. */
  async idle(): Promise<void> {
    while (this.#open > 0) await this.#last;
  }

  async #deliver<T>(
    before: Promise<void>,
    outcome: Promise<Outcome<T>>,
    deliver: (outcome: Outcome<T>) => void,
  ): Promise<void> {
    await before;
    const settled = await outcome;
    this.#open -= 1;
    deliver(settled);
  }
}

async function outcomeOf<T>(write: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await write };
  } catch (error) {
    return { ok: false, error };
  }
}
