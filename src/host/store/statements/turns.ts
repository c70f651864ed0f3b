import type { TurnRecord } from "../../records-sessions.ts";
import type { SessionReader, SessionWriter } from "../session-tables.ts";
import type { Connection } from "./connection.ts";
import { json, plain, Table } from "./table.ts";

const turns = new Table<TurnRecord>("turns", {
  messageId: plain("message_id"),
  sessionId: plain("session_id"),
  runId: plain("run_id"),
  interactionId: plain("interaction_id"),
  status: plain("status"),
  abortReason: plain("abort_reason"),
  error: json("error_json"),
  openedAt: plain("opened_at"),
  closedAt: plain("closed_at"),
});

/** `turns`, reading. */
export function turnReader(connection: Connection): SessionReader["turns"] {
  return {
    get: connection.one(turns, "WHERE message_id = ?"),
    openOfSession: connection.one(
      turns,
      "WHERE session_id = ? AND status = 'open' ORDER BY opened_at DESC LIMIT 1",
    ),
    allOpenOfSession: connection.many(
      turns,
      "WHERE session_id = ? AND status = 'open' ORDER BY opened_at, message_id",
    ),
    openOfInteraction: connection.one(turns, "WHERE interaction_id = ? AND status = 'open'"),
    openOfRun: connection.many(turns, "WHERE run_id = ? AND status = 'open' ORDER BY opened_at"),
  };
}

/** `turns`, writing. */
export function turnWriter(connection: Connection): Pick<SessionWriter, "turn" | "turnChange"> {
  const insert = connection.insert(turns);
  const update = connection.update(turns, ["message_id"]);
  return {
    turn: (turn) => insert(turn),
    turnChange: (messageId, change) => update(change, messageId),
  };
}
