import { HostError } from "../errors.ts";
import { FAILURE_TEXT_CHARS_MAX, VALUE_BYTES_MAX } from "../limits.ts";
import type { FailureRecord, Instant, RunRecord, SourceWithContent, ValueRef } from "../records.ts";
import type { Change, Tx } from "../store/tx.ts";

/** One change of one run: the transaction, the run as it was read in it, and when. */
export interface Step {
  readonly tx: Tx;
  readonly run: RunRecord;
  readonly at: Instant;
}

/** What a change does to the run's own row, and the event that tells of it. */
export interface RunChange {
  readonly event: string;
  readonly change: Change<RunRecord>;
  /** The node concerned; the run's present one by default. */
  readonly node?: string;
  /** Facts of the transition; never a payload, prompt or secret. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Writes the run's row and appends the event: revision + 1, the same number for
 * both. Rows below the run are changed before, because a terminal run must leave
 * nothing open. Returns the step to go on with.
 */
export function changeRun(step: Step, { event, change, node, data = {} }: RunChange): Step {
  const { tx, run, at } = step;
  const revision = run.revision + 1;
  const whole = { ...change, revision, updatedAt: at };
  tx.put.runChange(run.runId, differences(run, whole));
  tx.put.event({ runId: run.runId, revision, kind: event, at, node: node ?? run.node, data });
  // A key that the change clears reads as absent from here on.
  return { ...step, run: { ...run, ...whole } as RunRecord };
}

/**
 * What the row does not say already: SQLite writes the index of every column that
 * a statement names, and most steps of a run leave its status as it was.
 */
function differences(run: RunRecord, change: Change<RunRecord>): Change<RunRecord> {
  const present: Readonly<Record<string, unknown>> = { ...run };
  // Of a change of the record's fields some are left.
  return Object.fromEntries(
    Object.entries(change).filter(([field, value]) => value !== present[field]),
  ) as Change<RunRecord>;
}

/** Lets go of the run's open claim, if it has one; its generation stays used. */
export function releaseClaim({ tx, run }: Step): void {
  const claim = tx.claims.open(run.runId);
  if (claim !== undefined) tx.put.claimChange(run.runId, claim.generation, { released: true });
}

/** Stores a JSON text of at most the documented size. */
export function storeValue(tx: Tx, json: string, what: string): ValueRef {
  requireBytes(json, VALUE_BYTES_MAX, what);
  return tx.put.value(json);
}

/** Refuses a text that is longer in UTF-8 than its documented limit. */
export function requireBytes(text: string, limit: number, what: string): void {
  const actual = Buffer.byteLength(text);
  if (actual <= limit) return;
  throw new HostError("LIMIT_EXCEEDED", `${what} has ${actual} bytes, at most ${limit} are taken`, {
    limit,
    actual,
  });
}

export function storeSources({ tx, run }: Step, sources: readonly SourceWithContent[]): void {
  for (const source of sources) tx.put.source(run.runId, source);
}

/** An error in words that a row can hold: whoever wrote it, it stays readable and small. */
export function boundedFailure(failure: FailureRecord): FailureRecord {
  const { name, message, stack } = failure;
  return {
    name: cut(name),
    message: cut(message),
    ...(stack === undefined ? {} : { stack: cut(stack) }),
  };
}

function cut(text: string): string {
  if (text.length <= FAILURE_TEXT_CHARS_MAX) return text;
  return `${text.slice(0, FAILURE_TEXT_CHARS_MAX)} … (${text.length} characters)`;
}
