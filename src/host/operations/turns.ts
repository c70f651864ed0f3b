import { turnLifecycle } from "../lifecycle/turn.ts";
import type { TurnEvent } from "../lifecycle/turn.ts";
import type {
  InteractionRecord,
  MessageRecord,
  TurnErrorRecord,
  TurnRecord,
} from "../records-sessions.ts";
import { system } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { Tx } from "../store/tx.ts";
import { isGivenUp, markSeen } from "./message-rows.ts";
import type { Moment } from "./message-rows.ts";
import { settleIfDue } from "./settle.ts";
import { boundedFailure } from "./step.ts";
import type { Step } from "./step.ts";
import { CONSEQUENCES, standingOf, turnEndOf } from "./turn-consequence.ts";
import type { TurnEnd, TurnOutcome } from "./turn-consequence.ts";
import { askAgain, carryOut, changeInteraction } from "./turn-effects.ts";

/** A turn of a session, by the message that started it. */
export interface TurnReport {
  readonly sessionId: string;
  readonly messageId: string;
  /** Pi's id of the message's entry, when the extension knows it. */
  readonly entryId?: string;
}

export interface TurnEnding extends TurnReport {
  readonly outcome: TurnOutcome;
  /** With `completed`: the last assistant text of the turn. */
  readonly replyText: string;
  /** True when that text ended by itself. */
  readonly replyWhole: boolean;
  /** With `failed`: why. */
  readonly error?: TurnErrorRecord;
}

/**
 * A message started a model turn. A repeat changes nothing, and so does a turn of
 * a message that is not of this session. One whose answer nobody wants any more
 * is asked to stop.
 */
export function openTurn(host: HostContext, report: TurnReport): Promise<void> {
  return system(host, "turn_opened", (tx) => {
    beginTurn({ tx, at: host.clock.now() }, messageOf(tx, report));
  });
}

/**
 * A model turn ended, with all that this means for its request, in one
 * transaction. A repeat changes nothing; an end without a beginning is both.
 */
export function settleTurn(host: HostContext, ending: TurnEnding): Promise<void> {
  return system(host, "turn_ended", (tx) => {
    endTurn({ tx, at: host.clock.now() }, ending);
  });
}

/** See openTurn. */
export function beginTurn({ tx, at }: Moment, message: MessageRecord | undefined): void {
  if (message === undefined || !message.startsTurn) return;
  if (tx.turns.get(message.messageId) !== undefined) return;
  const abortReason = whyUnwanted(tx, message);
  tx.put.turn({
    ...turnOf(message),
    status: "open",
    openedAt: at,
    ...(abortReason === undefined ? {} : { abortReason }),
  });
}

/** See settleTurn. */
export function endTurn(moment: Moment, ending: TurnEnding): void {
  const { tx } = moment;
  const message = messageOf(tx, ending);
  if (message === undefined) return;
  const turn = tx.turns.get(message.messageId);
  if (turn === undefined ? !message.startsTurn : turn.status !== "open") return;
  const outcome = outcomeOf(ending, turn);
  closeTurn(moment, { message, turn, ending, outcome });
  if (outcome === "completed") endHold(tx, message.sessionId);
  const { entryId } = ending;
  const seen = entryId === undefined ? message : markSeen(moment, message, entryId);
  const end = turnEndOf(outcome, { errorKind: ending.error?.kind, hadTurn: turn !== undefined });
  follow(moment, seen, { end, ending });
}

interface Ended {
  readonly end: TurnEnd;
  readonly ending: TurnEnding;
}

/** What the end means for the request that the turn was to answer. */
function follow({ tx, at }: Moment, message: MessageRecord, { end, ending }: Ended): void {
  const { interactionId, runId, sessionId, messageId } = message;
  const run = tx.runs.get(runId);
  const interaction = interactionId === undefined ? undefined : tx.interactions.get(interactionId);
  if (run === undefined || interaction === undefined || !isOpen(interaction)) return;
  const step: Step = { tx, run, at };
  // An answer that comes after the deadline is too late, also before anybody has looked.
  if (run.status === "waiting" && settleIfDue(step)) return;
  const inOrigin = run.originSession === sessionId;
  const standing = standingOf({
    interaction,
    runStatus: run.status,
    inOrigin,
    isNewest: tx.messages.newestOfInteraction(interaction.interactionId)?.messageId === messageId,
  });
  if (!inOrigin) askWhereItIs(step, interaction);
  else carryOut(step, afterTurn(step, interaction, end), CONSEQUENCES[end][standing], ending);
}

/** A completed turn ends what counts in a row. */
function afterTurn(step: Step, interaction: InteractionRecord, end: TurnEnd): InteractionRecord {
  const { modelErrors, lostTurns } = interaction;
  if (end !== "completed" || modelErrors + lostTurns === 0) return interaction;
  return changeInteraction(step, interaction, { modelErrors: 0, lostTurns: 0 });
}

/**
 * The run moved to another session while this turn went on, and its submission
 * was rejected meanwhile: nothing has asked there yet.
 */
function askWhereItIs(step: Step, interaction: InteractionRecord): void {
  const newest = step.tx.messages.newestOfInteraction(interaction.interactionId);
  const { originSession, status } = step.run;
  const isAsked = newest?.sessionId === originSession && newest !== undefined && !isGivenUp(newest);
  if (isAsked || status !== "waiting") return;
  askAgain(step, interaction, "resumed");
}

/** The message, if it is one of this session: a fork carries the ids of another one's. */
function messageOf(
  tx: Tx,
  { messageId, sessionId }: Pick<TurnReport, "messageId" | "sessionId">,
): MessageRecord | undefined {
  const message = tx.messages.get(messageId);
  return message?.sessionId === sessionId ? message : undefined;
}

type TurnOwner = Pick<TurnRecord, "messageId" | "sessionId" | "runId" | "interactionId">;

function turnOf({ messageId, sessionId, runId, interactionId }: MessageRecord): TurnOwner {
  const owner = { messageId, sessionId, runId };
  return interactionId === undefined ? owner : { ...owner, interactionId };
}

const EVENTS: Readonly<Record<TurnOutcome, TurnEvent>> = {
  completed: "complete",
  aborted: "abort",
  stopped: "stop",
  failed: "fail",
  lost: "lose",
};

/** The session may have told of an abort that was ours before it heard of our wish. */
function outcomeOf({ outcome }: TurnEnding, turn: TurnRecord | undefined): TurnOutcome {
  return outcome === "aborted" && turn?.abortReason !== undefined ? "stopped" : outcome;
}

interface Closing {
  readonly message: MessageRecord;
  readonly turn: TurnRecord | undefined;
  readonly ending: TurnEnding;
  readonly outcome: TurnOutcome;
}

function closeTurn({ tx, at }: Moment, { message, turn, ending, outcome }: Closing): void {
  const closed = {
    status: turnLifecycle.next("open", EVENTS[outcome]),
    closedAt: at,
    ...(ending.error === undefined ? {} : { error: boundedError(ending.error) }),
  };
  if (turn === undefined) tx.put.turn({ ...turnOf(message), ...closed, openedAt: at });
  else tx.put.turnChange(message.messageId, closed);
}

function boundedError(error: TurnErrorRecord): TurnErrorRecord {
  const { message } = boundedFailure({ name: error.kind, message: error.message });
  return { ...error, message };
}

/** The provider takes requests again. */
function endHold(tx: Tx, sessionId: string): void {
  const session = tx.sessions.get(sessionId);
  if (session === undefined || (session.heldCount === 0 && session.heldUntil === undefined)) return;
  tx.put.sessionChange(sessionId, { heldUntil: undefined, heldFor: undefined, heldCount: 0 });
}

/** Why a turn that begins now should stop at once; absent when its answer is wanted. */
function whyUnwanted(tx: Tx, message: MessageRecord): string | undefined {
  if (isGivenUp(message)) return "this message was withdrawn";
  const { interactionId, runId, sessionId } = message;
  if (interactionId === undefined) return undefined;
  const interaction = tx.interactions.get(interactionId);
  const run = tx.runs.get(runId);
  if (!isOpen(interaction)) return "the request is closed already";
  if (run?.originSession !== sessionId) return "the run's steps moved to another session";
  const isStopped = run.status === "paused" || run.status === "blocked";
  return isStopped ? `the run is ${run.status}` : undefined;
}

function isOpen(interaction: InteractionRecord | undefined): boolean {
  return interaction?.status === "pending" || interaction?.status === "validating";
}
