import type { EventRecord } from "../../records.ts";
import type { Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { json, plain, Table } from "./table.ts";

const events = new Table<EventRecord>("events", {
  position: plain("position"),
  runId: plain("run_id"),
  revision: plain("revision"),
  kind: plain("kind"),
  at: plain("at"),
  node: plain("node"),
  data: json("data_json"),
});

/** `events`, reading. */
export function eventReader(connection: Connection): Reader["events"] {
  // The sequence remembers positions that prune has deleted; the table does not.
  const lastPosition = connection.number("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  const tally = connection.rows<{ count: number; last: number }>(
    `SELECT count(*) AS count, coalesce(max(revision), 0) AS last FROM events WHERE run_id = ?`,
  );
  return {
    tally: (runId) => tally(runId)[0] ?? { count: 0, last: 0 },
    ofRun: connection.many(events, "WHERE run_id = ? AND revision > ? ORDER BY revision LIMIT ?"),
    changedRuns: connection.rows<{ runId: string; position: number }>(
      `SELECT run_id AS runId, max(position) AS position FROM events NOT INDEXED WHERE position > ?
       GROUP BY run_id ORDER BY max(position) LIMIT ?`,
    ),
    lastPosition: () => lastPosition() ?? 0,
  };
}

/** `events`, writing. */
export function eventWriter(connection: Connection): Pick<Tx["put"], "event"> {
  const insert = connection.insert(events);
  return { event: (event) => insert(event) };
}
