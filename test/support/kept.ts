/** What the store keeps of a run and its sessions, in lines that can be compared. */
import Database from "better-sqlite3";
import type { Voyage } from "./voyage.ts";

/** What the store holds of a run beside its end: one line each, in order. */
export interface Kept {
  readonly messages: readonly string[];
  readonly turns: readonly string[];
  readonly submissions: readonly string[];
  /** What changed by request and answer; who executed it may differ. */
  readonly changes: readonly string[];
}

const CHANGES: ReadonlySet<string> = new Set(["wait", "validate", "reject", "adopt", "remind"]);

/** Read beside the host, which has no call that shows all of it. */
export async function keptOf(voyage: Voyage, runId: string): Promise<Kept> {
  const { paths } = await voyage.host();
  const database = new Database(paths.database, { readonly: true });
  const lines = (sql: string): readonly string[] =>
    database.prepare<[string], string>(sql).pluck().all(runId);
  const kept = {
    messages: lines(
      `SELECT kind || ' ' || node || ' ' || reason || ' ' || status FROM messages
       WHERE run_id = ? ORDER BY position`,
    ),
    turns: lines(
      `SELECT turns.status FROM turns JOIN messages USING (message_id)
       WHERE turns.run_id = ? ORDER BY messages.position`,
    ),
    submissions: lines(
      `SELECT status || ' ' || coalesce(reason, '') FROM submissions
       WHERE run_id = ? ORDER BY received_at, rowid`,
    ),
  };
  database.close();
  const events = await voyage.events(runId);
  const changes = events.filter(({ kind }) => CHANGES.has(kind));
  return { ...kept, changes: changes.map(({ kind, node }) => `${kind} ${node}`) };
}
