import type { MessageRecord, TurnRecord } from "../records-sessions.ts";
import { system } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { Reader, Tx } from "../store/tx.ts";
import { isGivenUp, markSeen } from "./message-rows.ts";
import type { Moment } from "./message-rows.ts";
import { askAgain } from "./turn-effects.ts";
import { beginTurn, endTurn } from "./turns.ts";

/** Where a message stands on the active branch of its session. */
export interface Evidence {
  readonly messageId: string;
  /** Pi's id of its entry; absent when the branch lacks it. */
  readonly entryId?: string;
}

export interface BranchReport {
  readonly sessionId: string;
  readonly messages: readonly Evidence[];
  /** Pi works on nothing. */
  readonly idle: boolean;
  /** The branch is on disk: it has an entry of the user or of the model. */
  readonly written: boolean;
  /** The turn that a message of ours started, if the session knows of one. */
  readonly turn?: { readonly messageId: string; readonly running: boolean };
}

/** One thing that a report tells and the rows do not. */
type Fact =
  | { readonly kind: "seen"; readonly message: MessageRecord; readonly entryId: string }
  | { readonly kind: "gone"; readonly message: MessageRecord }
  | { readonly kind: "lost"; readonly turn: TurnRecord }
  | { readonly kind: "begun"; readonly message: MessageRecord }
  | { readonly kind: "unworked"; readonly message: MessageRecord };

/**
 * Takes in what stands on a session's branch. Most reports tell what is known
 * already; those write nothing.
 */
export async function reportBranch(host: HostContext, report: BranchReport): Promise<void> {
  if (factsOf(host.store.reader, report).length === 0) return;
  await system(host, "branch", (tx) => {
    const moment = { tx, at: host.clock.now() };
    for (const fact of factsOf(tx, report)) take(moment, fact);
  });
}

/** Pure but for reading: first what is there, then which turns are over, last what is gone. */
function factsOf(reader: Reader, report: BranchReport): readonly Fact[] {
  const { sessionId, messages, written, turn: bound } = report;
  const evidence = messages.flatMap(({ messageId, entryId }) => {
    const message = reader.messages.get(messageId);
    // A fork carries the ids of another session's messages.
    return message?.sessionId === sessionId ? [{ message, entryId }] : [];
  });
  const seen = evidence.flatMap(({ message, entryId }): Fact[] => {
    if (entryId === undefined || !written || message.entryId === entryId) return [];
    return [{ kind: "seen", message, entryId }];
  });
  const gone = evidence.flatMap(({ message, entryId }): Fact[] =>
    entryId === undefined && message.status === "delivered" && isMissed(reader, message)
      ? [{ kind: "gone", message }]
      : [],
  );
  const unworked = evidence.flatMap(({ message, entryId }): Fact[] =>
    entryId !== undefined && isUnworked(reader, message, report)
      ? [{ kind: "unworked", message }]
      : [],
  );
  const ends = [...lostOf(reader, report), ...unworked];
  return [...seen, ...begunOf(reader, sessionId, bound), ...ends, ...gone];
}

/**
 * It stands there, nothing works on it, and nobody ever told of a turn: whoever saw
 * the turn is gone, together with what it had not told yet.
 */
function isUnworked(
  reader: Reader,
  message: MessageRecord,
  { idle, written, turn: bound }: BranchReport,
): boolean {
  const { messageId, startsTurn } = message;
  if (!idle || !written || !startsTurn || bound?.messageId === messageId) return false;
  if (isGivenUp(message) || reader.turns.get(messageId) !== undefined) return false;
  return isMissed(reader, message);
}

/** The session tells of a running turn whose beginning we have not heard of. */
function begunOf(reader: Reader, sessionId: string, bound: BranchReport["turn"]): readonly Fact[] {
  if (bound === undefined || !bound.running) return [];
  const message = reader.messages.get(bound.messageId);
  if (message?.sessionId !== sessionId || !message.startsTurn) return [];
  return reader.turns.get(bound.messageId) === undefined ? [{ kind: "begun", message }] : [];
}

/** Only a session that works on nothing and knows of no such turn has lost it. */
function lostOf(reader: Reader, { sessionId, idle, turn: bound }: BranchReport): readonly Fact[] {
  if (!idle) return [];
  return reader.turns
    .allOpenOfSession(sessionId)
    .filter(({ messageId }) => messageId !== bound?.messageId)
    .map((turn) => ({ kind: "lost", turn }));
}

/** Its request is open and nothing newer asks for the same: only then is it shown again. */
function isMissed(reader: Reader, message: MessageRecord): boolean {
  const { interactionId, runId, sessionId, messageId } = message;
  if (interactionId === undefined) return false;
  const run = reader.runs.get(runId);
  // Of a run that does not wait nothing is asked now; it is asked about again when it does.
  if (run?.status !== "waiting" || run.originSession !== sessionId) return false;
  return (
    reader.interactions.get(interactionId)?.status === "pending" &&
    reader.messages.newestOfInteraction(interactionId)?.messageId === messageId &&
    reader.turns.openOfInteraction(interactionId) === undefined
  );
}

function take(moment: Moment, fact: Fact): void {
  switch (fact.kind) {
    case "seen":
      markSeen(moment, fact.message, fact.entryId);
      return;
    case "begun":
      beginTurn(moment, fact.message);
      return;
    case "lost":
      lose(moment, fact.turn);
      return;
    case "unworked":
      beginTurn(moment, fact.message);
      lose(moment, fact.message);
      return;
    case "gone":
      showAgain(moment, fact.message);
  }
}

function lose(
  moment: Moment,
  { sessionId, messageId }: Pick<TurnRecord, "sessionId" | "messageId">,
): void {
  const nothing = { replyText: "", replyWhole: false };
  endTurn(moment, { sessionId, messageId, outcome: "lost", ...nothing });
}

/** What came before in the same report may have asked again already. */
function showAgain({ tx, at }: Moment, message: MessageRecord): void {
  const present = tx.messages.get(message.messageId);
  const run = tx.runs.get(message.runId);
  const interaction = openRequest(tx, message);
  if (present === undefined || isGivenUp(present) || run === undefined) return;
  if (interaction === undefined || !isMissed(tx, present)) return;
  askAgain({ tx, run, at }, interaction, "resumed");
}

function openRequest(
  tx: Tx,
  { interactionId }: MessageRecord,
): ReturnType<Tx["interactions"]["get"]> {
  return interactionId === undefined ? undefined : tx.interactions.get(interactionId);
}
