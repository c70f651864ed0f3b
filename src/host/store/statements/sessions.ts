import type { SessionRecord } from "../../records-sessions.ts";
import type { SessionReader, SessionWriter } from "../session-tables.ts";
import type { Connection } from "./connection.ts";
import { plain, Table } from "./table.ts";

const sessions = new Table<SessionRecord>("sessions", {
  sessionId: plain("session_id"),
  cwd: plain("cwd"),
  sessionFile: plain("session_file"),
  headlessRun: plain("headless_run"),
  coordinatorEpoch: plain("coordinator_epoch"),
  status: plain("status"),
  heldUntil: plain("held_until"),
  heldFor: plain("held_for"),
  heldCount: plain("held_count"),
  createdAt: plain("created_at"),
  updatedAt: plain("updated_at"),
});

/** `sessions`, reading. */
export function sessionReader(connection: Connection): SessionReader["sessions"] {
  return {
    get: connection.one(sessions, "WHERE session_id = ?"),
    ofHeadlessRun: connection.one(sessions, "WHERE headless_run = ?"),
    attached: connection.many(sessions, "WHERE status = 'attached' ORDER BY session_id"),
    nextHeldUntil: connection.number(
      "SELECT min(held_until) FROM sessions WHERE held_until IS NOT NULL AND held_until > ?",
    ),
  };
}

/** `sessions`, writing. */
export function sessionWriter(
  connection: Connection,
): Pick<SessionWriter, "session" | "sessionChange"> {
  const insert = connection.insert(sessions);
  const update = connection.update(sessions, ["session_id"]);
  return {
    session: (session) => insert(session),
    sessionChange: (sessionId, change) => update(change, sessionId),
  };
}
