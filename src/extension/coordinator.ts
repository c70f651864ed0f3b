/**
 * From the host's picture to what happens in Pi. One round at a time: tell what
 * is known of turns, tell what stands on the branch, then, without a pause
 * between looking and acting, stop a turn or send a message.
 */
import type { Clock } from "../platform/clock.ts";
import { deriveEnd, isWritten, ownEntries } from "./branch.ts";
import type { BranchEntry } from "./branch.ts";
import { decideDelivery } from "./delivery.ts";
import type { Delivery } from "./delivery.ts";
import type { Latch } from "./latch.ts";
import type { PiPort } from "./pi-port.ts";
import type { BranchReport, Picture, Present, Reporter } from "./picture.ts";
import type { TurnBinder } from "./turn-binding.ts";
import type { TurnFact, TurnFacts } from "./turn-facts.ts";
import type { WakePolicy } from "./waking.ts";

export interface CoordinatorOptions {
  readonly port: PiPort;
  readonly facts: TurnFacts;
  readonly binder: TurnBinder;
  readonly latch: Latch;
  readonly waking: WakePolicy;
  readonly clock: Pick<Clock, "now" | "monotonic">;
}

export class Coordinator {
  readonly #options: CoordinatorOptions;
  #picture: Picture | undefined;
  #reporter: Reporter | undefined;
  /** The host does not know the branch as it is. */
  #unreported = true;
  #round: Promise<void> | undefined;
  /** Facts that the host did not take once. */
  readonly #refused = new WeakSet<TurnFact>();
  /** Messages that the host was told of as written. */
  readonly #delivered = new Set<string>();
  #again = false;
  #closed = false;

  constructor(options: CoordinatorOptions) {
    this.#options = options;
  }

  /** A new picture; with the first one of an attachment the host is told everything anew. */
  show(picture: Picture, reporter: Reporter): void {
    const isNew = picture.attachmentId !== this.#picture?.attachmentId;
    const isPromoted = picture.holder && this.#picture?.holder === false;
    this.#picture = picture;
    this.#reporter = reporter;
    if (isNew || isPromoted) {
      this.#unreported = true;
      this.#deriveOpenTurn(picture);
    }
  }

  /** The stream has ended; nothing can be told or sent until there is another. */
  detached(): void {
    this.#picture = undefined;
    this.#reporter = undefined;
  }

  /** The branch may look otherwise than it was reported. */
  branchChanged(): void {
    this.#unreported = true;
  }

  isOnBranch(messageId: string): boolean {
    return this.#entries().has(messageId);
  }

  /** Does what there is to do; settles when nothing more can be done now. */
  async pump(): Promise<void> {
    this.#again = true;
    this.#round ??= this.#rounds();
    await this.#round;
  }

  /** One last round that only tells. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unreported = true;
    await this.pump();
  }

  async #rounds(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        await this.#once();
      }
    } finally {
      this.#round = undefined;
    }
  }

  async #once(): Promise<void> {
    const { binder, latch, facts, port, clock } = this.#options;
    binder.look();
    latch.look(clock.monotonic(), port.isIdle(), (id) => this.isOnBranch(id));
    if (!(await this.#tellFacts())) return;
    if (!(await this.#tellBranch())) return;
    // What happened meanwhile is told first.
    if (this.#unreported || facts.size > 0) {
      this.#again = true;
      return;
    }
    if (!this.#closed) this.#act();
  }

  /** False when the host cannot be told now. */
  async #tellFacts(): Promise<boolean> {
    const { facts } = this.#options;
    for (let fact = facts.first(); fact !== undefined; fact = facts.first()) {
      const reporter = this.#speaker();
      if (reporter === undefined) return false;
      const told = await reporter.turn(fact);
      // Refused once, it may have been the attachment that was over.
      if (told === "lost" || (told === "refused" && !this.#refused.has(fact))) {
        if (told === "refused") this.#refused.add(fact);
        return false;
      }
      facts.drop(fact);
      this.#unreported = true;
    }
    return true;
  }

  async #tellBranch(): Promise<boolean> {
    const reporter = this.#speaker();
    if (reporter === undefined) return false;
    if (!this.#unreported) return true;
    this.#unreported = false;
    const report = this.#report();
    const told = await reporter.branch(report);
    if (told === "taken") {
      this.#noteDelivered(report);
      return true;
    }
    this.#unreported = true;
    return false;
  }

  /** What the host knows to be on disk it never asks for under the same id again. */
  #noteDelivered({ messages, written }: BranchReport): void {
    if (!written) return;
    for (const { messageId, entryId } of messages)
      if (entryId !== "") this.#delivered.add(messageId);
  }

  /** Only who holds the session reports, on the attachment of the newest picture. */
  #speaker(): Reporter | undefined {
    return this.#picture?.holder === true ? this.#reporter : undefined;
  }

  #report(): BranchReport {
    const { port, binder } = this.#options;
    const branch = port.branch();
    const entries = ownEntries(branch, port.sessionId);
    const ids = this.#picture?.openMessageIds ?? [];
    return {
      messages: ids.map((messageId) => ({ messageId, entryId: entries.get(messageId) ?? "" })),
      leafId: port.leafId(),
      idle: port.isIdle(),
      written: isWritten(branch),
      turn: binder.turn,
    };
  }

  #act(): void {
    const picture = this.#picture;
    if (picture === undefined || !picture.holder) return;
    const { binder, port } = this.#options;
    if (picture.abort !== undefined && binder.hostAsks(picture.abort)) port.abort();
    // A picture may be older than the last report, and the branch newer than both.
    if (picture.present === undefined || this.#delivered.has(picture.present.messageId)) return;
    if (this.#decide(picture.present) === "send") this.#send(picture.present);
  }

  #decide({ messageId, startsTurn }: Present): Delivery {
    const { port, waking, latch, binder, clock } = this.#options;
    const now = clock.monotonic();
    return decideDelivery({
      idle: port.isIdle(),
      inputPending: waking.inputPending(now),
      onBranch: this.isOnBranch(messageId),
      latched: latch.messageId !== undefined,
      settling: binder.settling,
      startsTurn,
      mayWake: waking.view(now).may,
    });
  }

  #send(present: Present): void {
    const { binder, latch, port, clock } = this.#options;
    latch.set(present.messageId);
    if (present.startsTurn) binder.sent(present.messageId, present.allowedTools);
    port.send(present);
    latch.look(clock.monotonic(), port.isIdle(), (id) => this.isOnBranch(id));
    this.#unreported = true;
    this.#again = true;
  }

  /** A turn that the host believes open, of which this process knows nothing: it has ended unseen. */
  #deriveOpenTurn({ holder, openTurn }: Picture): void {
    const { facts, binder, port, clock } = this.#options;
    if (!holder || openTurn === undefined || !port.isIdle()) return;
    if (facts.hasEnd(openTurn) || binder.turn?.messageId === openTurn) return;
    const branch: readonly BranchEntry[] = port.branch();
    const entryId = ownEntries(branch, port.sessionId).get(openTurn);
    // Absent: the report names no such turn, and the host closes it.
    if (entryId === undefined) return;
    facts.add(deriveEnd(branch, { messageId: openTurn, entryId }, clock.now()));
  }

  #entries(): ReadonlyMap<string, string> {
    const { port } = this.#options;
    return ownEntries(port.branch(), port.sessionId);
  }
}
