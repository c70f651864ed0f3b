import { setImmediate as nextTurn } from "node:timers/promises";
import { FINDINGS_MAX, PAGE_MAX } from "./limits.ts";
import type { Instant, RunRecord } from "./records.ts";
import type { HostContext } from "./context.ts";
import type { AskedCommand } from "./operations/canonical.ts";
import { changeRun } from "./operations/step.ts";
import { command } from "./store/doors.ts";
import type { CommandResult } from "./store/doors.ts";
import type { Reader, Tx } from "./store/tx.ts";
import { readFacts } from "./diagnosis/facts.ts";
import { toFinding } from "./diagnosis/finding.ts";
import type { Contradiction, Finding, Mend } from "./diagnosis/finding.ts";
import { OWNERSHIP } from "./diagnosis/ownership.ts";
import { missingBlobs, POSITION } from "./diagnosis/records.ts";
import { REQUESTS } from "./diagnosis/requests.ts";
import { WAITS } from "./diagnosis/waits.ts";

export type { Finding } from "./diagnosis/finding.ts";

const CHECKS = [...OWNERSHIP, ...POSITION, ...WAITS, ...REQUESTS];

/**
 * Checks the invariants of the stored state (state.md, "Invariants") and changes
 * nothing. At most FINDINGS_MAX findings; none for an unknown run.
 */
export function diagnose(
  reader: Reader,
  { runId }: { readonly runId?: string | undefined } = {},
): Finding[] {
  const findings: Finding[] = [];
  for (const run of runsToCheck(reader, runId)) {
    findings.push(...contradictionsOf(reader, run).map((one) => toFinding(run.runId, one)));
    if (findings.length >= FINDINGS_MAX) return findings.slice(0, FINDINGS_MAX);
  }
  return findings;
}

/**
 * The same for the whole store while the host goes on serving: each run is looked
 * at in one piece, and the loop turns between them.
 */
export async function diagnoseCalmly(
  reader: Reader,
  { runId }: { readonly runId?: string | undefined } = {},
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { runId: id } of runsToCheck(reader, runId)) {
    findings.push(...diagnose(reader, { runId: id }));
    if (findings.length >= FINDINGS_MAX) break;
    await nextTurn();
  }
  return findings.slice(0, FINDINGS_MAX);
}

export interface RepairReport {
  /** What was mended, or would be. */
  readonly repaired: readonly Finding[];
  /** What needs a person. */
  readonly remaining: readonly Finding[];
}

/**
 * Mends the contradictions for which the rows prove what is right, each with an
 * event of its own, in one transaction. It never invents an outcome: what was
 * lost is interrupted, cancelled or ambiguous. With `dryRun` it does the same,
 * tells what it did and undoes it, so that what it tells is exact.
 */
export async function repair(
  host: HostContext,
  asked: AskedCommand,
  { dryRun }: { readonly dryRun: boolean },
): Promise<CommandResult<RepairReport>> {
  const found = await diagnoseCalmly(host.store.reader);
  try {
    return await command<RepairReport>(host, asked, (tx) => {
      const report = mendAll(tx, found, host.clock.now());
      if (dryRun) throw new DryRun(report);
      return { extra: report };
    });
  } catch (error) {
    if (!(error instanceof DryRun)) throw error;
    const committedAt = host.clock.now();
    return { outcome: "committed", revision: 0, committedAt, extra: error.report };
  }
}

/** Leaves the transaction with what it would have done. */
class DryRun extends Error {
  readonly report: RepairReport;

  constructor(report: RepairReport) {
    super("only a dry run");
    this.report = report;
  }
}

/** Looks again at what was found before, so a run that changed meanwhile is judged as it is now. */
function mendAll(tx: Tx, found: readonly Finding[], at: Instant): RepairReport {
  const mendable = found.filter((finding) => finding.repair !== undefined);
  const runIds = new Set(mendable.map((finding) => finding.runId));
  const repaired = [...runIds].flatMap((runId) => mendRun(tx, runId, at));
  const left = [...runIds].flatMap((runId) => diagnose(tx, { runId }));
  return { repaired, remaining: [...found.filter(({ runId }) => !runIds.has(runId)), ...left] };
}

/** One mending can bring another contradiction to light, so the run is looked at again after each. */
function mendRun(tx: Tx, runId: string, at: Instant): readonly Finding[] {
  const done: Finding[] = [];
  for (;;) {
    const run = tx.runs.get(runId);
    if (run === undefined) return done;
    const next = contradictionsOf(tx, run).find(({ mend }) => mend && !isDone(done, mend));
    if (next?.mend === undefined) return done;
    next.mend.apply({ tx, run, at });
    done.push(toFinding(runId, next));
    const data = { invariant: next.invariant, repair: next.mend.what };
    // The mending may have changed the row.
    const step = { tx, run: tx.runs.get(runId) ?? run, at };
    changeRun(step, { event: "repair", change: {}, data });
  }
}

function isDone(done: readonly Finding[], { what }: Mend): boolean {
  return done.some((finding) => finding.repair === what);
}

function contradictionsOf(reader: Reader, run: RunRecord): readonly Contradiction[] {
  const facts = readFacts(reader, run);
  return [...CHECKS.flatMap((check) => check(facts)), ...missingBlobs(reader, facts)];
}

function* runsToCheck(reader: Reader, runId: string | undefined): Generator<RunRecord> {
  if (runId !== undefined) {
    const run = reader.runs.get(runId);
    if (run !== undefined) yield run;
    return;
  }
  let before: number | undefined;
  for (;;) {
    const filter = { limit: PAGE_MAX, ...(before === undefined ? {} : { before }) };
    const page = reader.runs.page(filter);
    yield* page;
    if (page.length < PAGE_MAX) return;
    before = page.at(-1)?.position;
  }
}
