/** Whether a message may start a turn: never against what the user has just done. */
import type { Waking } from "./session-link.ts";

/** After the start of a session Pi may begin with a prompt from its command line. */
export const START_QUIET_MS = 1_000;
/** How long a sent text may take until its run begins. */
export const INPUT_MS = 2_000;

const STARTING = "Pi has just started";
const STOPPED =
  "you stopped the model; workflows go on after your next message or /workflow resume";
const MOVED =
  "you moved in the session's tree; workflows go on after your next message or /workflow resume";

export class WakePolicy {
  readonly #severalPrompts: boolean;
  #quietUntil: number;
  /** A run that belongs to the start: the prompts of a command line follow one another. */
  #startRun = false;
  #blocked = "";
  #inputAt: number | undefined;

  /** `severalPrompts`: whether the command line of this Pi may hold prompts that it runs one by one. */
  constructor(now: number, severalPrompts: boolean) {
    this.#quietUntil = now + START_QUIET_MS;
    this.#severalPrompts = severalPrompts;
  }

  view(now: number): Waking {
    if (this.#blocked !== "") return { may: false, why: this.#blocked };
    const starting = this.#startRun || now < this.#quietUntil;
    return starting ? { may: false, why: STARTING } : { may: true, why: "" };
  }

  /** The user sent a text. */
  input(now: number): void {
    this.#inputAt = now;
  }

  inputPending(now: number): boolean {
    return this.#inputAt !== undefined && now - this.#inputAt < INPUT_MS;
  }

  runStarted(now: number): void {
    this.#inputAt = undefined;
    if (this.#severalPrompts && now < this.#quietUntil) this.#startRun = true;
  }

  /** A run of the user ended, or a turn of ours. */
  settled(now: number, end: { readonly byUser: boolean; readonly aborted: boolean }): void {
    if (this.#startRun) this.#quietUntil = now + START_QUIET_MS;
    this.#startRun = false;
    if (end.byUser && !end.aborted) this.#blocked = "";
  }

  /** The user stopped a run, for no other reason than that. */
  stopped(): void {
    this.#blocked = STOPPED;
  }

  treeChanged(): void {
    this.#blocked = MOVED;
  }

  /** By the user's wish, or because the session is attached anew. */
  allow(): void {
    this.#blocked = "";
  }

  /** Milliseconds until time alone changes an answer; absent when it does not. */
  changesIn(now: number): number | undefined {
    const times = [
      this.#startRun ? undefined : this.#quietUntil,
      this.#inputAt === undefined ? undefined : this.#inputAt + INPUT_MS,
    ].filter((time) => time !== undefined && time > now) as number[];
    return times.length === 0 ? undefined : Math.min(...times) - now;
  }
}
