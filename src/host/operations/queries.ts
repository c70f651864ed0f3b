import { HostError } from "../errors.ts";
import { VIEW_ATTEMPTS_MAX } from "../limits.ts";
import type {
  AttemptRecord,
  EffectRecord,
  GraphRecord,
  Instant,
  ProgressRecord,
  RunRecord,
  TimerRecord,
  WorkerRecord,
} from "../records.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import type { HostContext } from "../context.ts";
import type { Reader } from "../store/tx.ts";

/** A run with what a person wants to see of it, as it was at one moment. */
export interface RunDetails {
  readonly run: RunRecord;
  readonly graph: GraphRecord;
  /** The newest, oldest of them first. */
  readonly attempts: readonly AttemptRecord[];
  readonly interaction?: InteractionRecord;
  readonly timer?: TimerRecord;
  /** Pending, being applied or ambiguous. */
  readonly effects: readonly EffectRecord[];
  readonly progress: readonly ProgressRecord[];
  /** The newest. */
  readonly worker?: WorkerRecord;
  /** When a queued or waiting run goes on by itself at the latest. */
  readonly dueAt?: Instant;
}

/** More effects at once than a host applies. */
const APPLYING_MAX = 100;

/** How many effects are being applied right now. */
export function countApplying(reader: Reader): number {
  return reader.effects.page({ statuses: ["applying"], limit: APPLYING_MAX }).length;
}

/** Refuses an unknown run as RUN_NOT_FOUND. */
export function runDetails(host: HostContext, runId: string): RunDetails {
  const { reader } = host.store;
  const run = reader.runs.get(runId);
  if (run === undefined) {
    throw new HostError("RUN_NOT_FOUND", `there is no run ${runId}`, { runId });
  }
  const interaction = reader.interactions.open(runId);
  const timer = reader.timers.open(runId);
  const worker = reader.workers.newest(runId);
  const dueAt = dueAtOf(run, interaction, timer);
  return {
    run,
    graph: reader.runs.graph(runId),
    attempts: reader.attempts.lastOfRun(runId, VIEW_ATTEMPTS_MAX),
    effects: reader.effects.unsettled(runId),
    progress: reader.progress.ofRun(runId),
    ...(interaction === undefined ? {} : { interaction }),
    ...(timer === undefined ? {} : { timer }),
    ...(worker === undefined ? {} : { worker }),
    ...(dueAt === undefined ? {} : { dueAt }),
  };
}

/** When a run goes on by itself, by its status; absent when it needs somebody. */
export function dueAtOf(
  run: RunRecord,
  interaction: InteractionRecord | undefined,
  timer: TimerRecord | undefined,
): Instant | undefined {
  if (run.status === "queued") return run.availableAt;
  if (run.status !== "waiting") return undefined;
  return timer?.dueAt ?? interaction?.deadlineAt;
}
