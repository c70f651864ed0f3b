/** Plays wrong streams and sabotaged workers at one host until the time is over. */
import { answerOf } from "./answers.ts";
import type { Answer } from "./answers.ts";
import { prepare } from "./calls.ts";
import { Choice } from "./choice.ts";
import { wrongStream } from "./mutate.ts";
import { play } from "./player.ts";
import { record } from "./recording.ts";
import type { Recording } from "./recording.ts";
import { KINDS } from "./sabotage.ts";
import type { Order } from "./sabotage.ts";
import type { Target } from "./target.ts";
import { playWorker } from "./worker-round.ts";

export interface Finding {
  readonly what: string;
  /** What was played when it was seen; the cause is among it. */
  readonly played: readonly (Buffer | Order)[];
}

const STREAMS_AT_ONCE = 16;
/** What the recordings are about is pruned and changed by what is played. */
const STREAMS_PER_RECORDING = 1_500;
const FRAMES_SABOTAGED = 12;

export class Campaign {
  readonly findings: Finding[] = [];
  /** One stream for each word, the shortest that was seen. */
  readonly streams = new Map<string, Buffer>();
  readonly orders = new Map<string, Order>();
  played = 0;
  sabotaged = 0;
  readonly #target: Target;
  readonly #choice: Choice;
  readonly #workerChoice: Choice;
  #recordings: readonly Recording[] = [];
  #last: readonly Buffer[] = [];
  #isBroken = false;
  /** What must not go on beside a sabotaged worker, and it not beside that: one after the other. */
  #alone: Promise<unknown> = Promise.resolve();

  constructor(target: Target, seed: number) {
    this.#target = target;
    this.#choice = new Choice(seed);
    this.#workerChoice = new Choice(seed + 1);
  }

  async run(isOver: () => boolean): Promise<void> {
    await this.#record(0);
    await this.#target.settle();
    const isDone = (): boolean => isOver() || this.#isBroken;
    await Promise.all([
      this.#guarded(() => this.#playStreams(isDone)),
      this.#guarded(() => this.#playWorkers(isDone)),
    ]);
    await this.#look(this.#last);
  }

  /** A clean client that is not answered is a finding, and the end. */
  async #guarded(plays: () => Promise<void>): Promise<void> {
    try {
      await plays();
    } catch (error) {
      this.#isBroken = true;
      this.#found({ what: `a clean client was told: ${String(error)}`, played: this.#last });
    }
  }

  #found(finding: Finding): void {
    this.findings.push(finding);
    console.log(`finding: ${finding.what}`);
    for (const one of finding.played) {
      console.log(`  ${one instanceof Buffer ? one.toString("hex") : JSON.stringify(one)}`);
    }
  }

  async #record(round: number): Promise<void> {
    await this.#exclusively(async () => {
      this.#recordings = await record(this.#target, await prepare(this.#target), round);
    });
  }

  #exclusively<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#alone.then(run);
    this.#alone = turn.catch(() => undefined);
    return turn;
  }

  async #playStreams(isOver: () => boolean): Promise<void> {
    for (let round = 0; !isOver();) {
      const streams = Array.from({ length: STREAMS_AT_ONCE }, () =>
        wrongStream(this.#recordings, this.#choice),
      );
      this.#last = streams;
      const answers = await Promise.all((await play(this.#target, streams)).map(answerOf));
      for (const [index, answer] of answers.entries()) this.#note(streams[index], answer);
      this.played += streams.length;
      await this.#look(streams);
      if (this.played >= (round + 1) * STREAMS_PER_RECORDING) await this.#record((round += 1));
    }
  }

  async #playWorkers(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const choice = this.#workerChoice;
      const frame = 1 + choice.below(FRAMES_SABOTAGED);
      const order = { frame, kind: choice.pick(KINDS), seed: choice.below(1_000_000) };
      const { words, findings } = await this.#exclusively(() => playWorker(this.#target, order));
      this.sabotaged += 1;
      for (const word of words) if (!this.orders.has(word)) this.orders.set(word, order);
      for (const what of findings) this.#found({ what, played: [order] });
    }
  }

  #note(bytes: Buffer | undefined, { words, faults }: Answer): void {
    if (bytes === undefined) return;
    for (const word of words) {
      const known = this.streams.get(word);
      if (known === undefined || known.length > bytes.length) this.streams.set(word, bytes);
    }
    for (const id of faults) {
      const told = this.#target.logHas(id) ? "a reason in the log" : "nothing in the log";
      this.#found({ what: `internal error ${id} with ${told}`, played: [bytes] });
    }
  }

  async #look(played: readonly Buffer[]): Promise<void> {
    for (const what of await this.#target.ailments()) this.#found({ what, played });
  }
}
