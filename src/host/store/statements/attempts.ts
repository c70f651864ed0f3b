import type { AttemptRecord } from "../../records.ts";
import type { Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { json, plain, Table, value } from "./table.ts";

const attempts = new Table<AttemptRecord>("attempts", {
  attemptId: plain("attempt_id"),
  runId: plain("run_id"),
  ordinal: plain("ordinal"),
  node: plain("node"),
  visit: plain("visit"),
  attempt: plain("attempt"),
  status: plain("status"),
  generation: plain("generation"),
  timeoutMs: plain("timeout_ms"),
  output: value("output"),
  error: json("error_json"),
  startedAt: plain("started_at"),
  finishedAt: plain("finished_at"),
});

/** `attempts`, reading. */
export function attemptReader(connection: Connection): Reader["attempts"] {
  const newestFirst = connection.many(attempts, "WHERE run_id = ? ORDER BY ordinal DESC LIMIT ?");
  const newestClosed = connection.many(
    attempts,
    `WHERE run_id = ? AND ordinal IN (
       SELECT max(ordinal) FROM attempts
       WHERE run_id = ? AND status IN ('ok', 'failed', 'timed_out', 'cancelled') GROUP BY node)
     ORDER BY ordinal`,
  );
  const maxVisit = connection.number(
    "SELECT coalesce(max(visit), 0) FROM attempts WHERE run_id = ? AND node = ?",
  );
  const countOpen = connection.number(
    "SELECT count(*) FROM attempts WHERE run_id = ? AND status IN ('running', 'waiting')",
  );
  return {
    get: connection.one(attempts, "WHERE attempt_id = ?"),
    open: connection.one(attempts, "WHERE run_id = ? AND status IN ('running', 'waiting')"),
    newest: connection.one(attempts, "WHERE run_id = ? ORDER BY ordinal DESC LIMIT 1"),
    lastOfRun: (runId, limit) => newestFirst(runId, limit).toReversed(),
    ofVisit: connection.many(
      attempts,
      "WHERE run_id = ? AND node = ? AND visit = ? ORDER BY attempt",
    ),
    newestClosedPerNode: (runId) => newestClosed(runId, runId),
    newestOk: connection.one(
      attempts,
      "WHERE run_id = ? AND node = ? AND status = 'ok' ORDER BY ordinal DESC LIMIT 1",
    ),
    maxVisit: (runId, node) => maxVisit(runId, node) ?? 0,
    countOpen: (runId) => countOpen(runId) ?? 0,
  };
}

/** `attempts`, writing. */
export function attemptWriter(
  connection: Connection,
): Pick<Tx["put"], "attempt" | "attemptChange"> {
  const update = connection.update(attempts, ["attempt_id"]);
  const insert = connection.insert(attempts);
  return {
    attempt: (attempt) => insert(attempt),
    attemptChange: (attemptId, change) => update(change, attemptId),
  };
}
