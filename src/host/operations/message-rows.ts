/** The rows of messages and turns, by their lifecycles. */
import { messageLifecycle } from "../lifecycle/message.ts";
import type { Instant } from "../records.ts";
import type { MessageRecord } from "../records-sessions.ts";
import type { Tx } from "../store/tx.ts";

/** Where a fact of a session is written: the transaction and its time. */
export interface Moment {
  readonly tx: Tx;
  readonly at: Instant;
}

/**
 * The message stands on the session's branch, and on disk. Of one that was given
 * up only the place is kept. Returns the message as it is then.
 */
export function markSeen(
  { tx, at }: Moment,
  message: MessageRecord,
  entryId: string,
): MessageRecord {
  const { messageId, status } = message;
  if (!messageLifecycle.allows(status, "see") && status !== "pending") {
    if (message.entryId !== entryId) tx.put.messageChange(messageId, { entryId });
    return { ...message, entryId };
  }
  // A store that was restored from a copy may have forgotten that it offered the message.
  const offered = status === "pending" ? messageLifecycle.next(status, "offer") : status;
  const seen = { status: messageLifecycle.next(offered, "see"), entryId, deliveredAt: at };
  tx.put.messageChange(messageId, seen);
  return { ...message, ...seen };
}

/** True when no answer to the message is wanted any more. */
export function isGivenUp({ status }: MessageRecord): boolean {
  return status === "cancelled" || status === "superseded";
}
