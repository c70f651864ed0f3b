/** All that a session shows, as it is at one moment: bounded, and never a backlog. */
import { ENDED_NEWS_MS, OPEN_MESSAGES_MAX, SESSION_RUNS_MAX } from "../limits.ts";
import { runGraph } from "../operations/graph.ts";
import { choose } from "../operations/present.ts";
import { sessionState } from "../operations/session-rows.ts";
import type { Seen, SessionState } from "../operations/session-rows.ts";
import type { Instant, RunRecord } from "../records.ts";
import type { MessageRecord, TurnRecord } from "../records-sessions.ts";
import type { Reader } from "../store/tx.ts";
import { waitsFor } from "./waits-for.ts";

/** A run as a widget's line. */
export interface RunLine {
  readonly run: RunRecord;
  /** Number of nodes in its graph. */
  readonly nodes: number;
  /** The newest update; may be empty. */
  readonly update: string;
  /** In words; empty when it waits for nothing. */
  readonly waitsFor: string;
  /** Another request of the session comes first. */
  readonly behind: boolean;
}

export interface SessionPicture {
  readonly coordinatorEpoch: number;
  /** Handed over, and to be shown next. */
  readonly present?: MessageRecord;
  /** A turn that is to stop. */
  readonly abort?: TurnRecord;
  readonly openMessageIds: readonly string[];
  /** Runs that have not ended, oldest first. */
  readonly runs: readonly RunLine[];
  /** The one that ended last, while that is news. */
  readonly ended?: RunLine;
  /** When it stops being news. */
  readonly endedUntil?: Instant;
  readonly heldUntil?: Instant;
  /** Message of the open turn. */
  readonly openTurn?: string;
}

export function pictureOf(reader: Reader, sessionId: string, seen: Seen): SessionPicture {
  const { now } = seen;
  const state = sessionState(reader, sessionId, seen);
  const { message, place } = choose(state);
  const turns = reader.turns.allOpenOfSession(sessionId);
  const abort = turns.find((turn) => turn.abortReason !== undefined);
  const openTurn = turns.at(-1)?.messageId;
  const runs = reader.runs.openOfSession(sessionId, SESSION_RUNS_MAX);
  const { heldUntil = 0 } = state;
  return {
    coordinatorEpoch: reader.sessions.get(sessionId)?.coordinatorEpoch ?? 0,
    // What is chosen and not handed over yet is, a moment later.
    ...(message?.status === "offered" ? { present: message } : {}),
    ...(abort === undefined ? {} : { abort }),
    openMessageIds: state.tracked.slice(0, OPEN_MESSAGES_MAX),
    runs: runs.map((run) => lineOf(reader, run, { state, place })),
    ...endedFields(reader, sessionId, { runs, now }),
    ...(heldUntil > now ? { heldUntil } : {}),
    ...(openTurn === undefined ? {} : { openTurn }),
  };
}

interface Placed {
  readonly state: SessionState;
  readonly place: string | undefined;
}

function lineOf(reader: Reader, run: RunRecord, { state, place }: Placed): RunLine {
  const request = state.requests.find((one) => one.interaction.runId === run.runId);
  const isAsking = request !== undefined && run.status === "waiting";
  const interactionId = request?.interaction.interactionId;
  return {
    run,
    nodes: runGraph(reader, run).nodes.length,
    update: reader.progress.ofRun(run.runId).at(-1)?.text ?? "",
    waitsFor: waitsFor(run, {
      interaction: request?.interaction,
      open: request?.open,
      isTimed: reader.timers.open(run.runId) !== undefined,
      session: reader.sessions.get(run.originSession ?? ""),
      now: state.now,
    }),
    behind: isAsking && place !== undefined && place !== interactionId,
  };
}

function endedFields(
  reader: Reader,
  sessionId: string,
  { runs, now }: { readonly runs: readonly RunRecord[]; readonly now: Instant },
): Pick<SessionPicture, "ended" | "endedUntil"> {
  const run = reader.runs.lastEndedOfSession(sessionId);
  const { finishedAt = 0 } = run ?? {};
  const endedUntil = finishedAt + ENDED_NEWS_MS;
  if (run === undefined || endedUntil <= now) return {};
  if (runs.some(({ createdAt }) => createdAt >= finishedAt)) return {};
  const nodes = runGraph(reader, run).nodes.length;
  return { ended: { run, nodes, update: "", waitsFor: "", behind: false }, endedUntil };
}
