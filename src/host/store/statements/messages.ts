import type { MessageRecord } from "../../records-sessions.ts";
import type { SessionReader, SessionWriter } from "../session-tables.ts";
import type { Connection } from "./connection.ts";
import { flag, plain, Table, value } from "./table.ts";

const messages = new Table<MessageRecord>("messages", {
  messageId: plain("message_id"),
  sessionId: plain("session_id"),
  runId: plain("run_id"),
  interactionId: plain("interaction_id"),
  position: plain("position"),
  kind: plain("kind"),
  reason: plain("reason"),
  status: plain("status"),
  node: plain("node"),
  summary: plain("summary"),
  text: value("text"),
  startsTurn: flag("starts_turn"),
  availableAt: plain("available_at"),
  entryId: plain("entry_id"),
  createdAt: plain("created_at"),
  deliveredAt: plain("delivered_at"),
  closedAt: plain("closed_at"),
});

/** `messages`, reading. */
export function messageReader(connection: Connection): SessionReader["messages"] {
  const lastPosition = connection.number("SELECT coalesce(max(position), 0) FROM messages");
  return {
    get: connection.one(messages, "WHERE message_id = ?"),
    openOfInteraction: connection.one(
      messages,
      "WHERE interaction_id = ? AND status IN ('pending', 'offered')",
    ),
    newestOfInteraction: connection.one(
      messages,
      "WHERE interaction_id = ? ORDER BY position DESC LIMIT 1",
    ),
    openOfSession: connection.many(
      messages,
      `INDEXED BY messages_open WHERE session_id = ? AND status IN ('pending', 'offered')
       ORDER BY position LIMIT ?`,
    ),
    shownOfSession: connection.many(
      messages,
      `JOIN interactions ON interactions.interaction_id = messages.interaction_id
       WHERE messages.session_id = ? AND messages.status = 'delivered'
         AND interactions.status IN ('pending', 'validating')
       ORDER BY messages.position LIMIT ?`,
    ),
    shownOfInteraction: connection.many(
      messages,
      "WHERE interaction_id = ? AND status = 'delivered' ORDER BY position LIMIT ?",
    ),
    ofRun: connection.many(messages, "WHERE run_id = ? ORDER BY position LIMIT ?"),
    resultOfRun: connection.one(messages, "WHERE run_id = ? AND kind = 'result'"),
    nextAvailableAt: connection.number(
      `SELECT min(available_at) FROM messages
       WHERE status = 'pending' AND available_at IS NOT NULL AND available_at > ?`,
    ),
    lastPosition: () => lastPosition() ?? 0,
  };
}

/** `messages`, writing. */
export function messageWriter(
  connection: Connection,
): Pick<SessionWriter, "message" | "messageChange"> {
  const insert = connection.insert(messages);
  const update = connection.update(messages, ["message_id"]);
  return {
    message: (message) => insert(message),
    messageChange: (messageId, change) => update(change, messageId),
  };
}
