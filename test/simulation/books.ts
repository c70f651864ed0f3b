/** Compares what is stored with what was stored and acknowledged before. */
import { diagnose } from "../../src/host/diagnosis.ts";
import type { RunRecord } from "../../src/host/records.ts";
import type { Reader } from "../../src/host/store/tx.ts";
import type { Ledger } from "./ledger.ts";

interface Known {
  /** The events so far, as text. */
  readonly events: string[];
  /** How the run ended, once it has. */
  end: string | undefined;
  /** Effects of which nobody knows what became. */
  unsettled: readonly string[];
}

const TERMINAL: ReadonlySet<string> = new Set(["completed", "failed", "timed_out", "cancelled"]);
const RUNS_MAX = 1_000;

export class Books {
  /** How many events of each kind there were, so that one can see what was lived through. */
  readonly kinds = new Map<string, number>();
  readonly #known = new Map<string, Known>();
  /** Runs that were pruned after they had ended. */
  readonly #gone = new Set<string>();
  /** Keys of the admissions that are stored. */
  readonly #inputs = new Map<string, string>();
  readonly #ledger: Ledger;
  readonly #report: (fault: string) => void;

  constructor(ledger: Ledger, report: (fault: string) => void) {
    this.#ledger = ledger;
    this.#report = report;
  }

  /** Looks at the runs that changed. */
  check(reader: Reader): void {
    const runs = reader.runs.page({ limit: RUNS_MAX });
    for (const run of runs) {
      const known = this.#of(run, reader);
      if (known.events.length === run.revision) continue;
      this.#append(reader, run, known);
      this.#checkEnd(run, known, reader);
      known.unsettled = reader.effects.unsettled(run.runId).map(({ effectId }) => effectId);
      for (const finding of diagnose(reader, { runId: run.runId })) {
        this.#report(`diagnose: ${finding.invariant}: ${finding.message}`);
      }
    }
  }

  /** After a start, and at the end: everything that was ever seen is as it was. */
  checkAll(reader: Reader): void {
    for (const [runId, known] of this.#known) {
      const run = reader.runs.get(runId);
      if (run === undefined) this.#checkGone(runId, known);
      else this.#checkEvents(reader, run, known);
    }
    for (const runId of this.#ledger.runIds) {
      const isKnown = this.#known.has(runId) || this.#gone.has(runId);
      if (!isKnown && reader.runs.get(runId) === undefined) {
        this.#report(`run ${runId} was acknowledged and is not stored`);
      }
    }
    this.check(reader);
    this.#checkOutputs(reader);
    for (const finding of diagnose(reader)) {
      this.#report(`diagnose: ${finding.invariant}: ${finding.message}`);
    }
  }

  #of(run: RunRecord, reader: Reader): Known {
    const known = this.#known.get(run.runId);
    if (known !== undefined) return known;
    const fresh: Known = { events: [], end: undefined, unsettled: [] };
    this.#known.set(run.runId, fresh);
    if (run.restartedFrom !== undefined) return fresh;
    // The key of a start is its run's input.
    const key = reader.values.read(run.input);
    const other = this.#inputs.get(key);
    if (other !== undefined) this.#report(`${key} was admitted as ${other} and as ${run.runId}`);
    this.#inputs.set(key, run.runId);
    return fresh;
  }

  #append(reader: Reader, run: RunRecord, { events }: Known): void {
    const { runId, revision } = run;
    if (revision < events.length) {
      this.#report(`run ${runId} went back from revision ${events.length} to ${revision}`);
    }
    for (const event of reader.events.ofRun(runId, events.length, revision)) {
      if (event.revision !== events.length + 1) this.#report(`events of ${runId} have a gap`);
      events.push(JSON.stringify(event));
      this.kinds.set(event.kind, (this.kinds.get(event.kind) ?? 0) + 1);
      const due = this.#ledger.dueAt.get(runId);
      if (event.kind === "settle" && due !== undefined && event.at < due) {
        this.#report(`run ${runId} was to wait until ${due} and went on at ${event.at}`);
      }
    }
    this.#checkAnswer(reader, run);
  }

  #checkAnswer(reader: Reader, { runId }: RunRecord): void {
    const newest = reader.attempts.newest(runId);
    const interaction =
      newest === undefined ? undefined : reader.interactions.ofAttempt(newest.attemptId);
    if (newest?.output === undefined || interaction?.status !== "accepted") return;
    const acknowledged = this.#ledger.answerOf(interaction.interactionId);
    if (acknowledged === undefined) return;
    const stored = reader.values.read(newest.output);
    if (!stored.includes(acknowledged)) {
      this.#report(
        `${interaction.interactionId} was answered ${acknowledged}, stored is ${stored}`,
      );
    }
  }

  #checkEnd(run: RunRecord, known: Known, reader: Reader): void {
    const { runId, status } = run;
    if (this.#ledger.cancelled.has(runId) && !TERMINAL.has(status)) {
      this.#report(`run ${runId} was cancelled and is ${status}`);
    }
    const end = TERMINAL.has(status) ? endOf(run, reader) : undefined;
    if (known.end !== undefined && known.end !== end) {
      this.#report(`run ${runId} had ended as ${known.end} and is ${end ?? status}`);
    }
    known.end = end;
  }

  #checkGone(runId: string, { end, unsettled }: Known): void {
    for (const effectId of unsettled.filter((id) => !this.#ledger.resolved.has(id))) {
      this.#report(`run ${runId} is gone and nobody has looked at its effect ${effectId}`);
    }
    if (end === undefined) this.#report(`run ${runId} is gone and had not ended`);
    else if (!this.#ledger.isPruned) {
      this.#report(`run ${runId} is gone and nobody pruned`);
    }
    this.#known.delete(runId);
    this.#gone.add(runId);
  }

  #checkEvents(reader: Reader, { runId }: RunRecord, { events }: Known): void {
    const stored = reader.events.ofRun(runId, 0, Math.max(1, events.length));
    const differs = events.findIndex((event, index) => event !== JSON.stringify(stored[index]));
    if (differs < 0) return;
    this.#report(`event ${differs + 1} of run ${runId} is lost or changed: ${events[differs]}`);
  }

  #checkOutputs(reader: Reader): void {
    for (const [attemptId, output] of this.#ledger.outputs) {
      const attempt = reader.attempts.get(attemptId);
      if (attempt === undefined) continue;
      const stored = attempt.output === undefined ? "" : reader.values.read(attempt.output);
      if (stored !== output) {
        this.#report(`the output of ${attemptId} was ${output} and is stored as ${stored}`);
      }
    }
  }
}

function endOf({ status, result }: RunRecord, reader: Reader): string {
  return `${status} ${result === undefined ? "" : reader.values.read(result)}`;
}
