/** What the host has to be told about turns, kept until it has confirmed it. */
import type { TurnFailure } from "./turn-error.ts";

export type TurnEnd = "completed" | "aborted" | "stopped" | "failed" | "lost";

export interface TurnFact {
  /** The message that started the turn. */
  readonly messageId: string;
  /** Of the message on the branch; empty when it is not there. */
  readonly entryId: string;
  /** Absent while the turn runs. */
  readonly end?: TurnEnd;
  /** With `completed`. */
  readonly replyText: string;
  /** Whether the reply ended by itself and not because it was cut. */
  readonly replyWhole: boolean;
  /** With `failed`. */
  readonly error?: TurnFailure;
}

/** In the order in which they happened, kept in a list that may outlive this code. */
export class TurnFacts {
  readonly #facts: TurnFact[];

  constructor(facts: TurnFact[] = []) {
    this.#facts = facts;
  }

  get size(): number {
    return this.#facts.length;
  }

  add(fact: TurnFact): void {
    this.#facts.push(fact);
  }

  /** The one to be told next; it stays until it is dropped. */
  first(): TurnFact | undefined {
    return this.#facts[0];
  }

  /** The host has confirmed it, or will never take it. */
  drop(fact: TurnFact): void {
    const index = this.#facts.indexOf(fact);
    if (index >= 0) this.#facts.splice(index, 1);
  }

  /** Whether the end of this turn is known and not confirmed yet. */
  hasEnd(messageId: string): boolean {
    return this.#facts.some((fact) => fact.messageId === messageId && fact.end !== undefined);
  }
}
