/**
 * Knows which run of the model belongs to which message of ours. A run that the
 * user starts belongs to none, ever, also when a message of ours joins it.
 */
import type { Clock } from "../platform/clock.ts";
import { classifyAbort } from "./abort-class.ts";
import type { AbortSigns } from "./abort-class.ts";
import { answerTo, lastAnswer, ownEntries, replyOf } from "./branch.ts";
import type { MessageDetails } from "./message-details.ts";
import type { PiPort } from "./pi-port.ts";
import { classifyError } from "./turn-error.ts";
import type { TurnEnd, TurnFact, TurnFacts } from "./turn-facts.ts";

export interface BoundTurn {
  readonly messageId: string;
  readonly running: boolean;
}

/** A run that has ended, as far as the user is concerned. */
export interface RunEnd {
  readonly byUser: boolean;
  readonly aborted: boolean;
  /** The user stopped it, for no other reason. */
  readonly stopped: boolean;
}

export interface TurnBinderOptions {
  readonly port: PiPort;
  readonly facts: TurnFacts;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly onEnd: (end: RunEnd) => void;
}

/** Idle for so long without a settle, a run never really began. */
const NEVER_BEGAN_MS = 1_000;
/** One that did begin is settled in the end, unless Pi itself is at fault. */
const NEVER_SETTLED_MS = 30_000;

interface Run {
  /** The message that started it; absent for a run of the user. */
  readonly messageId: string | undefined;
  /** Messages of ours that came into it. */
  readonly joined: Set<string>;
  opened: boolean;
  idleSince: number | undefined;
}

interface Held {
  readonly run: Run;
  readonly since: number;
}

export class TurnBinder {
  readonly #options: TurnBinderOptions;
  readonly #hostAsked = new Set<string>();
  readonly #allowed = new Map<string, readonly string[]>();
  #run: Run | undefined;
  #held: Held | undefined;

  constructor(options: TurnBinderOptions) {
    this.#options = options;
  }

  /** True while the reason of an abort is not known. */
  get settling(): boolean {
    return this.#held !== undefined;
  }

  /** The turn of ours that runs, or whose end is not known yet. */
  get turn(): BoundTurn | undefined {
    const messageId = this.#run?.messageId ?? this.#held?.run.messageId;
    return messageId === undefined ? undefined : { messageId, running: true };
  }

  /** Tools of the turn that runs; absent when it may use all. */
  get allowedTools(): readonly string[] | undefined {
    const messageId = this.#run?.messageId;
    return messageId === undefined ? undefined : this.#allowed.get(messageId);
  }

  /** A message was handed to Pi; the turn it starts is held to its tools. */
  sent(messageId: string, allowedTools: readonly string[] | undefined): void {
    this.#allowed.clear();
    if (allowedTools !== undefined) this.#allowed.set(messageId, allowedTools);
  }

  /** A run begins: with the very message that started it, or none when the user did. */
  runStarts(message: MessageDetails | undefined): void {
    this.#classifyHeld({ shutdown: false, manualCompact: false }, Number.POSITIVE_INFINITY);
    const isOurs = message?.sessionId === this.#options.port.sessionId;
    this.#run = {
      messageId: isOurs ? message.id : undefined,
      joined: new Set(),
      opened: false,
      idleSince: undefined,
    };
  }

  /** A message of ours was written while a run goes on. */
  messageWritten(message: MessageDetails): void {
    const run = this.#run;
    if (run === undefined || message.sessionId !== this.#options.port.sessionId) return;
    if (message.id === run.messageId) return;
    if (message.kind === "step" || message.kind === "result") run.joined.add(message.id);
  }

  /** The host wants this turn to stop; true when it runs and has to be stopped now. */
  hostAsks(messageId: string): boolean {
    if (this.#run?.messageId !== messageId || this.#hostAsked.has(messageId)) return false;
    this.#hostAsked.add(messageId);
    return true;
  }

  /** Looks at the branch: a turn is open once its message stands there. */
  look(): void {
    const run = this.#run;
    if (run?.messageId === undefined) return this.#dropStuck();
    const entryId = run.opened ? undefined : this.#entryOf(run.messageId);
    if (entryId !== undefined) {
      run.opened = true;
      this.#add({ messageId: run.messageId, entryId });
    }
    this.#dropStuck();
  }

  /** Nothing more of the run happens by itself. */
  runSettled(aborted: boolean): void {
    const run = this.#run;
    this.#run = undefined;
    if (run === undefined) return;
    for (const messageId of run.joined) this.#end(messageId, "lost");
    if (aborted) {
      this.#held = { run, since: this.#options.clock.monotonic() };
      this.recheck();
      return;
    }
    if (run.messageId !== undefined) this.#concludeOwn(run.messageId);
    this.#options.onEnd({ byUser: run.messageId === undefined, aborted: false, stopped: false });
  }

  /** Time has passed since an abort. */
  recheck(): void {
    this.#classifyHeld({ shutdown: false, manualCompact: false });
  }

  /** The user asked to compact, for which Pi stops the model. */
  manualCompact(): void {
    this.#classifyHeld({ shutdown: false, manualCompact: true });
  }

  /** Pi leaves the session. What still runs is lost. */
  shutdown(): void {
    this.#classifyHeld({ shutdown: true, manualCompact: false });
    const run = this.#run;
    this.#run = undefined;
    if (run?.messageId !== undefined) this.#end(run.messageId, "lost");
    for (const messageId of run?.joined ?? []) this.#end(messageId, "lost");
  }

  #classifyHeld(signs: Omit<AbortSigns, "hostAsked">, heldMs?: number): void {
    const held = this.#held;
    if (held === undefined) return;
    const { messageId } = held.run;
    const hostAsked = messageId !== undefined && this.#hostAsked.has(messageId);
    const end = classifyAbort(
      { ...signs, hostAsked },
      heldMs ?? this.#options.clock.monotonic() - held.since,
    );
    if (end === undefined) return;
    this.#held = undefined;
    if (messageId !== undefined) this.#end(messageId, end);
    this.#options.onEnd({
      byUser: messageId === undefined,
      aborted: true,
      stopped: end === "aborted",
    });
  }

  #concludeOwn(messageId: string): void {
    const branch = this.#options.port.branch();
    const entryId = this.#entryOf(messageId);
    // The end of the run, also when the user has spoken into it.
    const last = entryId === undefined ? undefined : lastAnswer(branch);
    if (entryId === undefined || last === undefined || last.stopReason === "aborted") {
      return this.#end(messageId, "lost");
    }
    if (last.stopReason === "error") {
      const error = classifyError(last.errorMessage, this.#options.clock.now());
      return this.#add({ messageId, entryId, end: "failed", error });
    }
    this.#add({ messageId, entryId, end: "completed", ...replyOf(answerTo(branch, entryId)) });
  }

  #end(messageId: string, end: TurnEnd): void {
    this.#add({ messageId, entryId: this.#entryOf(messageId) ?? "", end });
  }

  #add(fact: Pick<TurnFact, "messageId" | "entryId"> & Partial<TurnFact>): void {
    if (fact.end !== undefined) this.#hostAsked.delete(fact.messageId);
    this.#options.facts.add({ replyText: "", replyWhole: false, ...fact });
  }

  /** Pi may give up a run before it begins, and then nothing ever settles. */
  #dropStuck(): void {
    const run = this.#run;
    if (run === undefined) return;
    const { port, clock } = this.#options;
    if (!port.isIdle()) {
      run.idleSince = undefined;
      return;
    }
    run.idleSince ??= clock.monotonic();
    const limit = run.opened ? NEVER_SETTLED_MS : NEVER_BEGAN_MS;
    if (clock.monotonic() - run.idleSince < limit) return;
    this.#run = undefined;
    if (run.messageId !== undefined && run.opened) this.#end(run.messageId, "lost");
  }

  #entryOf(messageId: string): string | undefined {
    const { port } = this.#options;
    return ownEntries(port.branch(), port.sessionId).get(messageId);
  }
}
