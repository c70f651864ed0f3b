import type { WorkerRecord } from "../../records.ts";
import type { Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { plain, Table } from "./table.ts";

const workers = new Table<WorkerRecord>("workers", {
  workerId: plain("worker_id"),
  runId: plain("run_id"),
  generation: plain("generation"),
  epoch: plain("epoch"),
  pid: plain("pid"),
  startTime: plain("start_time"),
  bootId: plain("boot_id"),
  startedAt: plain("started_at"),
  endedAt: plain("ended_at"),
  exitCode: plain("exit_code"),
  exitSignal: plain("exit_signal"),
  exitReason: plain("exit_reason"),
});

/** `workers`, reading. */
export function workerReader(connection: Connection): Reader["workers"] {
  return {
    get: connection.one(workers, "WHERE worker_id = ?"),
    newest: connection.one(
      workers,
      "WHERE run_id = ? ORDER BY started_at DESC, generation DESC LIMIT 1",
    ),
    ofRun: connection.many(workers, "WHERE run_id = ? ORDER BY started_at, generation"),
    live: connection.many(workers, "WHERE ended_at IS NULL ORDER BY worker_id"),
  };
}

/** `workers`, writing. */
export function workerWriter(connection: Connection): Pick<Tx["put"], "worker" | "workerChange"> {
  const update = connection.update(workers, ["worker_id"]);
  const insert = connection.insert(workers);
  return {
    worker: (worker) => insert(worker),
    workerChange: (workerId, change) => update(change, workerId),
  };
}
