/** The rows that a session's picture and its next message are made of. */
import { SESSION_ROWS_MAX } from "../limits.ts";
import { messageLifecycle } from "../lifecycle/message.ts";
import type { Instant } from "../records.ts";
import type { MessageRecord } from "../records-sessions.ts";
import { system } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { Reader } from "../store/tx.ts";
import { choose, isOldNews } from "./present.ts";
import type { RequestRow, SessionRows } from "./present.ts";

export interface SessionState extends SessionRows {
  /** Handed over and not seen yet, or seen and still asking: their place on the branch matters. */
  readonly tracked: readonly string[];
}

/** What is known of a session beside its rows. */
export interface Seen {
  readonly now: Instant;
  /** Messages on the branch of a session that Pi has not written to disk. */
  readonly unwritten: ReadonlySet<string>;
}

export function sessionState(
  reader: Reader,
  sessionId: string,
  { now, unwritten }: Seen,
): SessionState {
  const heldUntil = reader.sessions.get(sessionId)?.heldUntil;
  const open = reader.messages.openOfSession(sessionId, SESSION_ROWS_MAX);
  const shown = reader.messages.shownOfSession(sessionId, SESSION_ROWS_MAX);
  const requests = requestsOf(reader, sessionId, { open, shown });
  return {
    now,
    ...(heldUntil === undefined ? {} : { heldUntil }),
    requests,
    // A note in a session that is not written is seen, and nothing has to wait behind it.
    news: open.filter(
      ({ interactionId, messageId }) => interactionId === undefined && !unwritten.has(messageId),
    ),
    tracked: trackedOf(requests, { open, shown }).toSorted(
      (one, other) => Number(unwritten.has(one)) - Number(unwritten.has(other)),
    ),
  };
}

/**
 * Marks the message that the session is to be shown next as handed over; says
 * whether there was one. What the session has not confirmed stays handed over,
 * also when the host or the session ends meanwhile.
 */
export async function offerNext(
  host: HostContext,
  sessionId: string,
  unwritten: ReadonlySet<string> = new Set(),
): Promise<boolean> {
  const seen = { now: host.clock.now(), unwritten };
  if (nextPending(host.store.reader, sessionId, seen) === undefined) return false;
  return system(host, "offer", (tx) => {
    const next = nextPending(tx, sessionId, seen);
    if (next === undefined) return false;
    tx.put.messageChange(next.messageId, {
      status: messageLifecycle.next(next.status, "offer"),
      ...(isOldNews(next, host.clock.now()) ? { startsTurn: false } : {}),
    });
    return true;
  });
}

function nextPending(reader: Reader, sessionId: string, seen: Seen): MessageRecord | undefined {
  const { message } = choose(sessionState(reader, sessionId, seen));
  return message?.status === "pending" ? message : undefined;
}

interface Messages {
  readonly open: readonly MessageRecord[];
  readonly shown: readonly MessageRecord[];
}

function requestsOf(reader: Reader, sessionId: string, messages: Messages): readonly RequestRow[] {
  const turns = reader.turns.allOpenOfSession(sessionId);
  return reader.interactions.openOfSession(sessionId, SESSION_ROWS_MAX).flatMap((interaction) => {
    const run = reader.runs.get(interaction.runId);
    if (run === undefined) return [];
    const isOwn = (one: MessageRecord): boolean => one.interactionId === interaction.interactionId;
    const open = messages.open.find(isOwn);
    const reached = open?.status === "offered" || messages.shown.some(isOwn);
    const busy = turns.some((turn) => turn.interactionId === interaction.interactionId);
    const row = { interaction, runStatus: run.status, reached, busy };
    return [open === undefined ? row : { ...row, open }];
  });
}

/** Of a request only its newest message: the ones before it have done their part. */
function trackedOf(requests: readonly RequestRow[], { open, shown }: Messages): readonly string[] {
  const asking = new Set(requests.map(({ interaction }) => interaction.interactionId));
  const newest = new Map<string, MessageRecord>();
  for (const message of shown) {
    const { interactionId = "" } = message;
    if (asking.has(interactionId)) newest.set(interactionId, message);
  }
  const offered = open.filter((message) => message.status === "offered");
  return [...offered, ...newest.values()].map((message) => message.messageId);
}
