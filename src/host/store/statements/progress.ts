import type { ProgressRecord } from "../../records.ts";
import type { Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { plain, Table } from "./table.ts";

const progress = new Table<ProgressRecord>("run_progress", {
  runId: plain("run_id"),
  node: plain("node"),
  text: plain("text"),
  at: plain("at"),
});

/** `run_progress`, reading. */
export function progressReader(connection: Connection): Reader["progress"] {
  return { ofRun: connection.many(progress, "WHERE run_id = ? ORDER BY at, node") };
}

/** `run_progress`, writing: only the newest of each node is kept. */
export function progressWriter(connection: Connection): Pick<Tx["put"], "progress"> {
  const upsert = connection.insert(
    progress,
    "ON CONFLICT (run_id, node) DO UPDATE SET text = excluded.text, at = excluded.at",
  );
  return { progress: (newest) => upsert(newest) };
}
