/** One run's place at a Pi: the process it has, and how its starts went. */
import type { PiProcess } from "../supervisor/pi-process.ts";
import type { RunFacts } from "./run-facts.ts";
import { modelKey } from "./run-facts.ts";
import type { SeatView } from "./plan.ts";

/** A process and what belongs to it. */
export interface SeatedPi {
  readonly process: PiProcess;
  readonly secret: string;
  /** Key of its model. */
  readonly model: string;
  /** Whether it was given this package. */
  readonly withExtension: boolean;
  /** Set once it is being ended. */
  ending: boolean;
  /** Since when it has not been attached. */
  deafSince: number | undefined;
  /** When it attached last. */
  attachedAt: number;
  /** It has worked on a step: what happens to it now is no failed start. */
  served: boolean;
  /** Why it is of no use, though it runs. */
  fault: string | undefined;
}

/** A headless run's Pi, for whoever shows what runs. */
export interface HeadlessPiView {
  readonly id: string;
  readonly runId: string;
  readonly pid: number;
  readonly attached: boolean;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
}

export class Seat {
  readonly runId: string;
  facts: RunFacts;
  /** Monotonic; see SeatView. */
  since: number;
  retryAt = 0;
  /** Starts in a row that came to nothing. */
  failures = 0;
  /** What the last of them ended with. */
  lastFailure = "";
  /** Learnt from a start that failed: this package is to be given, or not. */
  giveExtension: boolean | undefined;
  pi: SeatedPi | undefined;

  constructor(facts: RunFacts, now: number) {
    this.runId = facts.runId;
    this.facts = facts;
    this.since = now;
  }

  /** Nothing is known of the run that would be worth keeping. */
  get isEmpty(): boolean {
    return this.pi === undefined && this.facts.ask === undefined;
  }

  learn(facts: RunFacts, now: number): void {
    const { standing, turnOpen, ask } = this.facts;
    const isSame = standing === facts.standing && turnOpen === facts.turnOpen;
    if (!isSame || ask?.position !== facts.ask?.position) this.since = now;
    // Another step is another try.
    if (ask?.interactionId !== facts.ask?.interactionId) this.#beginAnew();
    this.facts = facts;
  }

  attached(isAttached: boolean, now: number): void {
    const { pi } = this;
    if (pi === undefined) return;
    if (!isAttached) {
      pi.deafSince ??= now;
      return;
    }
    if (pi.deafSince !== undefined) pi.attachedAt = now;
    pi.deafSince = undefined;
    if (!this.facts.turnOpen) return;
    pi.served = true;
    this.#beginAnew();
  }

  view(): SeatView {
    const { pi, retryAt } = this;
    return {
      ...this.facts,
      wantedModel: modelKey(this.facts.ask?.model),
      process: pi === undefined ? "none" : pi.ending ? "ending" : "up",
      model: pi?.model ?? "",
      since: Math.max(this.since, pi?.attachedAt ?? 0),
      deafSince: pi?.deafSince,
      retryAt,
    };
  }

  #beginAnew(): void {
    this.failures = 0;
    this.retryAt = 0;
  }
}
