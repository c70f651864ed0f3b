import type {
  AttemptRecord,
  ClaimRecord,
  EffectRecord,
  GraphRecord,
  RunRecord,
  SourceRecord,
  TimerRecord,
  WorkerRecord,
} from "../records.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import type { Reader } from "../store/tx.ts";

/** All that is stored of one run, as far as rows can contradict one another. */
export interface Facts {
  readonly run: RunRecord;
  readonly graph: GraphRecord;
  readonly claim: ClaimRecord | undefined;
  /** Of the open claim. */
  readonly worker: WorkerRecord | undefined;
  readonly attempts: readonly AttemptRecord[];
  readonly open: AttemptRecord | undefined;
  readonly newest: AttemptRecord | undefined;
  readonly interaction: InteractionRecord | undefined;
  readonly interactions: readonly InteractionRecord[];
  readonly timer: TimerRecord | undefined;
  readonly effects: readonly EffectRecord[];
  readonly sources: readonly SourceRecord[];
  readonly events: { readonly count: number; readonly last: number };
}

/** Facts are of one run, which is read whole. */
const ALL = Number.MAX_SAFE_INTEGER;

export function readFacts(reader: Reader, run: RunRecord): Facts {
  const { runId } = run;
  const claim = reader.claims.open(runId);
  const newest = reader.attempts.newest(runId);
  return {
    run,
    graph: reader.runs.graph(runId),
    claim,
    worker: claim === undefined ? undefined : reader.workers.get(claim.workerId),
    attempts: newest === undefined ? [] : reader.attempts.lastOfRun(runId, newest.ordinal),
    open: reader.attempts.open(runId),
    newest,
    interaction: reader.interactions.open(runId),
    interactions: reader.interactions.page({ runId, includeClosed: true, limit: ALL }),
    timer: reader.timers.open(runId),
    effects: reader.effects.ofRun(runId),
    sources: reader.sources.ofRun(runId),
    events: reader.events.tally(runId),
  };
}
