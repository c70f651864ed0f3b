import type { GraphRecord, RunRecord } from "../../records.ts";
import type { RunStatus } from "../../lifecycle/run.ts";
import type { Reader, RunFilter, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { flag, json, plain, Table, value } from "./table.ts";
import type { Cell } from "./table.ts";

const runs = new Table<RunRecord>("runs", {
  runId: plain("run_id"),
  position: plain("position"),
  workflow: plain("workflow"),
  title: plain("title"),
  workflowPath: plain("workflow_path"),
  projectDir: plain("project_dir"),
  status: plain("status"),
  pauseRequested: flag("pause_requested"),
  blockReason: plain("block_reason"),
  detail: plain("detail"),
  revision: plain("revision"),
  boundary: plain("boundary"),
  generation: plain("generation"),
  priority: plain("priority"),
  availableAt: plain("available_at"),
  node: plain("node"),
  visit: plain("visit"),
  steps: plain("steps"),
  routing: flag("routing"),
  activation: plain("activation"),
  useRecorded: flag("use_recorded"),
  noProgress: plain("no_progress"),
  graphDigest: plain("graph_digest"),
  input: value("input"),
  inputDigest: plain("input_digest"),
  result: value("result"),
  error: json("error_json"),
  changedFiles: json("changed_files_json"),
  restartedFrom: plain("restarted_from"),
  mode: plain("mode"),
  originSession: plain("origin_session"),
  model: json("model_json"),
  createdAt: plain("created_at"),
  updatedAt: plain("updated_at"),
  finishedAt: plain("finished_at"),
});

/** What was available when it was changed last stays so, also when the clock is set back since. */
const DUE = "(available_at <= ? OR available_at <= updated_at)";

/** `runs`, reading. */
export function runReader(connection: Connection): Reader["runs"] {
  const graphJson = connection.text("SELECT graph_json FROM runs WHERE run_id = ?");
  const active = connection.number(
    "SELECT EXISTS (SELECT 1 FROM runs WHERE status IN ('queued', 'starting', 'running'))",
  );
  const nextAvailableAt = connection.number(
    "SELECT min(available_at) FROM runs WHERE status = 'queued' AND available_at > ?",
  );
  const lastPosition = connection.number("SELECT coalesce(max(position), 0) FROM runs");
  return {
    get: connection.one(runs, "WHERE run_id = ?"),
    idsByPrefix: connection.idsByPrefix("runs", "run_id"),
    idsBySuffix: connection.idsBySuffix("runs", "run_id"),
    graph(runId) {
      const text = graphJson(runId);
      if (text === undefined) throw new Error(`no run ${runId}`);
      return JSON.parse(text) as GraphRecord;
    },
    page: (filter) => page(connection, filter),
    countByStatus: connection.rows<{ status: RunStatus; count: number }>(
      "SELECT status, count(*) AS count FROM runs GROUP BY status ORDER BY status",
    ),
    ...queueStatements(connection),
    nextAvailableAt,
    withStatus: connection.many(
      runs,
      "WHERE status = ? AND position > ? ORDER BY position LIMIT ?",
    ),
    hasActive: () => active() === 1,
    finishedBefore: connection.many(
      runs,
      "WHERE finished_at IS NOT NULL AND finished_at < ? ORDER BY finished_at, position LIMIT ?",
    ),
    lastPosition: () => lastPosition() ?? 0,
    ...sessionStatements(connection),
  };
}

/** What waits for a place. */
function queueStatements(
  connection: Connection,
): Pick<Reader["runs"], "queued" | "queuedElsewhere" | "queuedValidations"> {
  const queuedElsewhere = connection.many(
    runs,
    `INDEXED BY runs_queue WHERE status = 'queued' AND activation <> 'validate' AND ${DUE}
       AND project_dir NOT IN (SELECT value FROM json_each(?))
     ORDER BY priority DESC, available_at, position LIMIT ?`,
  );
  return {
    queued: connection.many(
      runs,
      // The planner would rather sort all that are queued.
      `INDEXED BY runs_queue WHERE status = 'queued' AND activation <> 'validate' AND ${DUE}
       ORDER BY priority DESC, available_at, position LIMIT ?`,
    ),
    queuedElsewhere: (now, projectDirs, limit) =>
      queuedElsewhere(now, JSON.stringify(projectDirs), limit),
    queuedValidations: connection.many(
      runs,
      `INDEXED BY runs_by_status WHERE status = 'queued' AND activation = 'validate'
       ORDER BY position LIMIT ?`,
    ),
  };
}

/** What a session shows. */
function sessionStatements(
  connection: Connection,
): Pick<
  Reader["runs"],
  "openOfSession" | "lastEndedOfSession" | "endedUntold" | "startedBySession"
> {
  const startedBySession = connection.one(
    runs,
    `WHERE origin_session = ? AND workflow_path = ? AND input_digest = ? AND created_at >= ?
       AND restarted_from IS NULL ORDER BY position DESC LIMIT 1`,
  );
  return {
    openOfSession: connection.many(
      runs,
      "WHERE origin_session = ? AND finished_at IS NULL ORDER BY position LIMIT ?",
    ),
    lastEndedOfSession: connection.one(
      runs,
      `WHERE origin_session = ? AND finished_at IS NOT NULL
       ORDER BY finished_at DESC, position DESC LIMIT 1`,
    ),
    endedUntold: connection.many(
      runs,
      `WHERE mode = 'session' AND finished_at IS NOT NULL AND finished_at > 0
         AND NOT EXISTS (SELECT 1 FROM messages
           WHERE messages.run_id = runs.run_id AND messages.kind = 'result')
       ORDER BY finished_at, position LIMIT ?`,
    ),
    startedBySession: ({ sessionId, workflowPath, inputDigest, since }) =>
      startedBySession(sessionId, workflowPath, inputDigest, since),
  };
}

function page(connection: Connection, filter: RunFilter): RunRecord[] {
  const conditions: string[] = [];
  const cells: Cell[] = [];
  const where = (condition: string, cell: Cell | undefined): void => {
    if (cell === undefined) return;
    conditions.push(condition);
    cells.push(cell);
  };
  where("status IN (SELECT value FROM json_each(?))", listed(filter.statuses));
  where("workflow = ?", filter.workflow);
  where("project_dir = ?", filter.projectDir);
  where("position < ?", filter.before);
  const clause = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  return connection.select(runs, `${clause} ORDER BY position DESC LIMIT ?`, [
    ...cells,
    filter.limit,
  ]);
}

/** An empty list filters nothing, like an absent one. */
function listed(values: readonly string[] | undefined): string | undefined {
  return values === undefined || values.length === 0 ? undefined : JSON.stringify(values);
}

type RunWriter = Pick<Tx["put"], "run" | "runChange" | "graph"> & {
  /** Deletes the row and everything that hangs on it; only a terminal run has one to delete. */
  readonly remove: (runId: string) => void;
};

/** `runs` and `pruned_runs`, writing. */
export function runWriter(connection: Connection): RunWriter {
  const insert = connection.insert(runs);
  const update = connection.update(runs, ["run_id"]);
  const setGraph = connection.change(
    "UPDATE runs SET graph_json = ?, graph_digest = ? WHERE run_id = ?",
  );
  const allowEvents = connection.change("INSERT INTO pruned_runs (run_id) VALUES (?)");
  const deleteRun = connection.change(
    "DELETE FROM runs WHERE run_id = ? AND finished_at IS NOT NULL",
  );
  const forbidEvents = connection.change("DELETE FROM pruned_runs WHERE run_id = ?");
  return {
    run: (run, graph) => insert(run, { graph_json: JSON.stringify(graph) }),
    runChange: (runId, change) => update(change, runId),
    graph(runId, graph, digest) {
      if (setGraph(JSON.stringify(graph), digest, runId) !== 1) throw new Error(`no run ${runId}`);
    },
    remove(runId) {
      allowEvents(runId);
      if (deleteRun(runId) !== 1) throw new Error(`${runId} is no run that has ended`);
      forbidEvents(runId);
    },
  };
}
