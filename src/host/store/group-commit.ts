import type Database from "better-sqlite3";
import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { HostError } from "../errors.ts";
import { BUSY_BUDGET_MS } from "../limits.ts";
import type { Session, WriteEffects } from "./session.ts";
import { storageCode } from "./storage-error.ts";
import { describe, refusal } from "./storage-refusal.ts";
import { changeOf } from "./store-change.ts";
import type { StoreChange } from "./store-change.ts";
import { Transaction } from "./transaction.ts";
import type { Tx } from "./tx.ts";

const BUSY_DELAY_MS_MIN = 25;
const BUSY_DELAY_MS_MAX = 250;

export interface GroupCommitOptions {
  readonly db: Database.Database;
  readonly session: Session;
  readonly clock: Clock;
  readonly log: Log;
  /** Writes of one COMMIT; more wait for the next. */
  readonly batchWrites: number;
  readonly crash: (name: "commit.before" | "commit.after", write: string) => void;
  /** The outcome of a COMMIT is unknown: nobody may be told anything any more. */
  readonly onFatal: (error: unknown) => void;
  /** Called before COMMIT: what is written in the call shares it. */
  readonly onApplied: (change: StoreChange) => void;
  /** Called after COMMIT and after the writers' own lists. */
  readonly onCommit: (change: StoreChange) => void;
}

interface Pending {
  readonly name: string;
  readonly body: (tx: Tx) => unknown;
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome =
  | { readonly write: Pending; readonly value: unknown; readonly effects: WriteEffects }
  | { readonly write: Pending; readonly error: unknown };

/** A failure of the storage, met inside a body: it belongs to the batch. */
class BatchEnded extends Error {}

/**
 * Lets the writes of one turn of the loop share one COMMIT, which is what costs
 * time (state.md, "Group commit"). Each has a savepoint of its own, so a refused
 * write undoes itself and none of its neighbours.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #transaction: Transaction;
  readonly #queue: Pending[] = [];
  #armed = false;
  #retry: Timer | undefined;
  #busyDelayMs = BUSY_DELAY_MS_MIN;
  #stalled = false;
  #ended: HostError | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#transaction = new Transaction(options.db);
  }

  /** True from a storage error until the next COMMIT that changed a row. */
  get stalled(): boolean {
    return this.#stalled;
  }

  /** True when nothing waits to be written. */
  get idle(): boolean {
    return this.#queue.length === 0;
  }

  write<T>(name: string, body: (tx: Tx) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      this.#queue.push({
        name,
        body,
        since: this.#options.clock.monotonic(),
        // The value is the one that this very body returned.
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#arm();
    });
  }

  /** Writes what is queued, once, and refuses every later write. */
  close(): void {
    this.#cancelRetry();
    while (this.#queue.length > 0 && this.#retry === undefined) this.#flush();
    this.#cancelRetry();
    this.#end(new HostError("HOST_STOPPING", "the host is stopping"));
  }

  #cancelRetry(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
  }

  #end(answer: HostError): void {
    this.#ended ??= answer;
    for (const write of this.#queue.splice(0)) write.reject(this.#ended);
  }

  #arm(): void {
    if (this.#armed || this.#retry !== undefined) return;
    this.#armed = true;
    setImmediate(() => {
      this.#armed = false;
      if (this.#retry === undefined) this.#flush();
    });
  }

  #flush(): void {
    const batch = this.#queue.splice(0, this.#options.batchWrites);
    if (batch.length === 0) return;
    const outcomes = this.#attempt(batch);
    if (outcomes !== undefined) this.#settle(outcomes);
    if (this.#queue.length > 0) this.#arm();
  }

  /** The outcome of each write once all are durable; undefined when the batch has ended. */
  #attempt(batch: Pending[]): readonly Outcome[] | undefined {
    const { crash } = this.#options;
    let outcomes: readonly Outcome[];
    try {
      this.#transaction.begin();
      outcomes = this.#applyAll(batch);
    } catch (error) {
      this.#endBatch(batch, error instanceof BatchEnded ? error.cause : error);
      return undefined;
    }
    const names = outcomes.flatMap((one) => ("error" in one ? [] : [one.write.name]));
    for (const name of names) crash("commit.before", name);
    try {
      this.#transaction.commit();
    } catch (error) {
      this.#endCommit(batch, error);
      return undefined;
    }
    for (const name of names) crash("commit.after", name);
    return outcomes;
  }

  /** The writes of the batch, and those that others make because of them. */
  #applyAll(batch: Pending[]): readonly Outcome[] {
    const outcomes = batch.map((write) => this.#apply(write));
    this.#tellApplied(changeOf(outcomes.flatMap(effectsOf)));
    // A batch that is not full has left nothing in the queue: what is there came just now.
    const joined = this.#queue.splice(0, this.#options.batchWrites - batch.length);
    batch.push(...joined);
    return [...outcomes, ...joined.map((write) => this.#apply(write))];
  }

  #tellApplied(change: StoreChange | undefined): void {
    if (change === undefined) return;
    const { log, onApplied } = this.#options;
    try {
      onApplied(change);
    } catch (error) {
      if (this.#transaction.isEndedBy(error))
        throw new BatchEnded("a batch ended", { cause: error });
      log.error("store.before_commit_failed", { error: describe(error) });
    }
  }

  #apply(write: Pending): Outcome {
    this.#transaction.save();
    try {
      const { value, effects } = this.#options.session.run(write.body);
      if (isThenable(value)) throw new TypeError(`the body of ${write.name} is not synchronous`);
      this.#transaction.release();
      return { write, value, effects };
    } catch (error) {
      if (this.#transaction.isEndedBy(error))
        throw new BatchEnded("a batch ended", { cause: error });
      this.#transaction.undo();
      return { write, error };
    }
  }

  #settle(outcomes: readonly Outcome[]): void {
    this.#busyDelayMs = BUSY_DELAY_MS_MIN;
    for (const outcome of outcomes) {
      if ("error" in outcome) {
        outcome.write.reject(outcome.error);
        continue;
      }
      // A COMMIT of nothing succeeds on a full disk too.
      if (outcome.effects.wrote) this.#stalled = false;
      for (const run of outcome.effects.afterCommit) this.#guard(outcome.write.name, run);
      outcome.write.resolve(outcome.value);
    }
    const change = changeOf(outcomes.flatMap(effectsOf));
    if (change !== undefined) this.#options.onCommit(change);
  }

  /** What is durable stays so, whatever the code that hears of it does. */
  #guard(write: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#options.log.error("store.after_commit_failed", { write, error: describe(error) });
    }
  }

  /** A COMMIT that failed otherwise than by BUSY or FULL may have happened all the same. */
  #endCommit(batch: readonly Pending[], error: unknown): void {
    const code = storageCode(error);
    if (code === "BUSY" || code === "FULL") {
      this.#endBatch(batch, error);
      return;
    }
    this.#fatal(error);
  }

  #fatal(error: unknown): void {
    this.#stalled = true;
    this.#options.log.error("store.outcome_unknown", { error: describe(error) });
    this.#end(new HostError("STORAGE_FAILED", "the database failed and the host is ending"));
    this.#options.onFatal(error);
  }

  #endBatch(batch: readonly Pending[], error: unknown): void {
    this.#stalled = true;
    try {
      this.#transaction.rollback();
    } catch (failure) {
      this.#fatal(failure);
      return;
    }
    const code = storageCode(error);
    if (code === "BUSY") {
      this.#waitForLock(batch, error);
      return;
    }
    this.#options.log.error(code === "FULL" ? "store.full" : "store.failed", {
      error: describe(error),
      writes: batch.length,
    });
    for (const write of batch) write.reject(refusal(error));
  }

  #waitForLock(batch: readonly Pending[], error: unknown): void {
    const { clock, log } = this.#options;
    if (this.#busyDelayMs === BUSY_DELAY_MS_MIN) log.warn("store.busy", { writes: batch.length });
    this.#queue.unshift(...batch);
    this.#refuseOverdue(error);
    if (this.#queue.length === 0) return;
    const delayMs = this.#busyDelayMs;
    this.#busyDelayMs = Math.min(delayMs * 2, BUSY_DELAY_MS_MAX);
    this.#retry = clock.after(delayMs, () => {
      this.#retry = undefined;
      this.#flush();
    });
  }

  /** The oldest come first, and each has its own twenty seconds. */
  #refuseOverdue(error: unknown): void {
    const latest = this.#options.clock.monotonic() - BUSY_BUDGET_MS;
    const overdue = this.#queue.findIndex((write) => write.since > latest);
    const count = overdue === -1 ? this.#queue.length : overdue;
    for (const write of this.#queue.splice(0, count)) write.reject(refusal(error));
  }
}

function effectsOf(outcome: Outcome): readonly WriteEffects[] {
  return "error" in outcome ? [] : [outcome.effects];
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value;
}
