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
import type {
  InteractionRecord,
  MessageRecord,
  SubmissionRecord,
  TurnRecord,
} from "../records-sessions.ts";
import { contractOf } from "../operations/contract-of.ts";
import { isDecision } from "../operations/decision-answer.ts";
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
  readonly submissions: readonly SubmissionRecord[];
  readonly messages: readonly MessageRecord[];
  /** Of the newest message that asks for what is open. */
  readonly turn: TurnRecord | undefined;
  /** Ids of decided requests whose answer is none of their choices. */
  readonly misdecided: readonly string[];
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
  const interaction = reader.interactions.open(runId);
  const interactions = reader.interactions.page({ runId, includeClosed: true, limit: ALL });
  return {
    run,
    graph: reader.runs.graph(runId),
    claim,
    worker: claim === undefined ? undefined : reader.workers.get(claim.workerId),
    attempts: newest === undefined ? [] : reader.attempts.lastOfRun(runId, newest.ordinal),
    open: reader.attempts.open(runId),
    newest,
    interaction,
    interactions,
    submissions: reader.submissions.ofRun(runId, ALL),
    messages: reader.messages.ofRun(runId, ALL),
    turn: turnOf(reader, interaction),
    misdecided: interactions.filter((one) => isMisdecided(reader, one)).map(idOf),
    timer: reader.timers.open(runId),
    effects: reader.effects.ofRun(runId),
    sources: reader.sources.ofRun(runId),
    events: reader.events.tally(runId),
  };
}

function turnOf(
  reader: Reader,
  interaction: InteractionRecord | undefined,
): TurnRecord | undefined {
  if (interaction === undefined) return undefined;
  const newest = reader.messages.newestOfInteraction(interaction.interactionId);
  return newest === undefined ? undefined : reader.turns.get(newest.messageId);
}

function isMisdecided(reader: Reader, interaction: InteractionRecord): boolean {
  const { kind, answer } = interaction;
  if (kind !== "human_decision" || answer === undefined) return false;
  try {
    const { choices = [] } = contractOf(reader, interaction);
    return !isDecision(choices, reader.values.read(answer));
  } catch {
    // A value whose bytes are gone is found by the check of the blobs.
    return false;
  }
}

function idOf({ interactionId }: InteractionRecord): string {
  return interactionId;
}
