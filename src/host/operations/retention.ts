import type { Instant, RunRecord } from "../records.ts";
import { command, system } from "../store/doors.ts";
import type { CommandResult } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import { UNTOLD_KEPT_MS } from "../limits.ts";
import type { Reader } from "../store/tx.ts";
import type { AskedCommand } from "./canonical.ts";

const ALL = Number.MAX_SAFE_INTEGER;
/** Runs deleted in one transaction: no write waits noticeably for it. */
const PRUNE_PAGE = 50;

export interface PruneRequest {
  /** Only runs that ended longer ago than this. */
  readonly olderThanMs: number;
  readonly dryRun: boolean;
}

export interface PruneReport {
  /** Runs that were deleted, or would be. */
  readonly runs: number;
  /** Terminal runs of that age that stay. */
  readonly protectedRuns: number;
  /** Bytes given back to the file system or free for reuse; 0 in a dry run. */
  readonly freedBytes: number;
}

/**
 * Deletes terminal runs that ended long ago, with all their rows. A run stays
 * while an effect of it is ambiguous, because a person must still say what
 * happened, while its worker is not confirmed gone, and while its session has not
 * been told what it was to be told. Receipts stay for ever.
 *
 * Works in pages of one transaction each and stores its receipt with the last,
 * so that a repeat after a crash does the rest.
 */
export async function pruneRuns(
  host: HostContext,
  asked: AskedCommand,
  request: PruneRequest,
): Promise<CommandResult<PruneReport>> {
  const { olderThanMs, dryRun } = request;
  const before = host.clock.now() - olderThanMs;
  const isRepeat = host.store.reader.commands.get(asked.command.key) !== undefined;
  const report = isRepeat ? NOTHING : await pruneBefore(host, before, dryRun);
  return command<PruneReport>(host, asked, () => ({
    extra: report,
  }));
}

async function pruneBefore(
  host: HostContext,
  before: Instant,
  dryRun: boolean,
): Promise<PruneReport> {
  if (dryRun) return { ...count(host, before), freedBytes: 0 };
  const spaceBefore = usedBytes(host);
  let runs = 0;
  let protectedRuns = 0;
  for (;;) {
    const page = await prunePage(host, before, protectedRuns + PRUNE_PAGE);
    runs += page.runs;
    protectedRuns = page.protectedRuns;
    if (page.runs === 0) break;
  }
  return { runs, protectedRuns, freedBytes: Math.max(0, spaceBefore - usedBytes(host)) };
}

type Counts = Omit<PruneReport, "freedBytes">;

/** Deletes what may go among the oldest; those that stay remain at the head of the list. */
function prunePage(host: HostContext, before: Instant, limit: number): Promise<Counts> {
  return system(host, "prune", (tx) => {
    const old = tx.runs.finishedBefore(before, limit);
    const free = old.filter((run) => !isProtected(tx, run, host.clock.now()));
    for (const run of free) tx.put.prunedRun(run.runId);
    return { runs: free.length, protectedRuns: old.length - free.length };
  });
}

function count({ store, clock }: HostContext, before: Instant): Counts {
  const old = store.reader.runs.finishedBefore(before, ALL);
  const protectedRuns = old.filter((run) => isProtected(store.reader, run, clock.now())).length;
  return { runs: old.length - protectedRuns, protectedRuns };
}

function isProtected(reader: Reader, run: RunRecord, now: Instant): boolean {
  const { runId, finishedAt = now } = run;
  return (
    reader.effects.unsettled(runId).length > 0 ||
    reader.workers.ofRun(runId).some((worker) => worker.endedAt === undefined) ||
    (finishedAt > now - UNTOLD_KEPT_MS && isUntold(reader, runId))
  );
}

/** Whether something of the run is still on its way to its session. */
function isUntold(reader: Reader, runId: string): boolean {
  return reader.messages
    .ofRun(runId, ALL)
    .some(({ status }) => status === "pending" || status === "offered");
}

function usedBytes(host: HostContext): number {
  const { databaseBytes, freeBytes } = host.store.sizes();
  return databaseBytes - freeBytes;
}

const NOTHING: PruneReport = { runs: 0, protectedRuns: 0, freedBytes: 0 };
