import { FINDINGS_MAX, PAGE_MAX } from "./limits.ts";
import type { RunRecord } from "./records.ts";
import type { HostContext } from "./context.ts";
import type { AskedCommand } from "./operations/canonical.ts";
import { changeRun } from "./operations/step.ts";
import { command } from "./store/doors.ts";
import type { CommandResult } from "./store/doors.ts";
import type { Reader, Tx } from "./store/tx.ts";
import { readFacts } from "./diagnosis/facts.ts";
import { toFinding } from "./diagnosis/finding.ts";
import type { Contradiction, Finding } from "./diagnosis/finding.ts";
import { OWNERSHIP } from "./diagnosis/ownership.ts";
import { missingBlobs, POSITION } from "./diagnosis/records.ts";
import { WAITS } from "./diagnosis/waits.ts";

export type { Finding } from "./diagnosis/finding.ts";

const CHECKS = [...OWNERSHIP, ...POSITION, ...WAITS];

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

export interface RepairReport {
  /** What was mended, or would be. */
  readonly repaired: readonly Finding[];
  /** What needs a person. */
  readonly remaining: readonly Finding[];
}

/**
 * Mends the contradictions for which the rows prove what is right, each run with
 * an event of its own, in one transaction. It never invents an outcome: what was
 * lost is interrupted, cancelled or ambiguous. With `dryRun` it only tells.
 */
export function repair(
  host: HostContext,
  asked: AskedCommand,
  { dryRun }: { readonly dryRun: boolean },
): Promise<CommandResult<RepairReport>> {
  return command<RepairReport>(host, asked, (tx) => {
    const repaired = diagnose(tx).filter((finding) => finding.repair !== undefined);
    if (!dryRun) {
      for (const runId of new Set(repaired.map((finding) => finding.runId))) {
        mendRun(tx, runId, host.clock.now());
      }
    }
    const remaining = diagnose(tx).filter((finding) => !dryRun || finding.repair === undefined);
    return { extra: { repaired, remaining } };
  });
}

/** One mending can bring another contradiction to light, so the run is looked at again after each. */
function mendRun(tx: Tx, runId: string, at: number): void {
  for (const seen = new Set<string>(); ;) {
    const run = tx.runs.get(runId);
    const next = run && contradictionsOf(tx, run).find(({ mend }) => mend && !seen.has(mend.what));
    if (run === undefined || next?.mend === undefined) return;
    const { what, apply } = next.mend;
    seen.add(what);
    apply({ tx, run, at });
    const after = tx.runs.get(runId) ?? run;
    const data = { invariant: next.invariant, repair: what };
    changeRun({ tx, run: after, at }, { event: "repair", change: {}, data });
  }
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
