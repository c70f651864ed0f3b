import type { TimerRecord } from "../../records.ts";
import type { Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { plain, Table } from "./table.ts";

const timers = new Table<TimerRecord>("timers", {
  timerId: plain("timer_id"),
  runId: plain("run_id"),
  attemptId: plain("attempt_id"),
  kind: plain("kind"),
  status: plain("status"),
  dueAt: plain("due_at"),
  createdAt: plain("created_at"),
  closedAt: plain("closed_at"),
});

/** A paused run's timers do not fire. */
const OF_WAITING_RUN = `EXISTS (SELECT 1 FROM runs
  WHERE runs.run_id = timers.run_id AND runs.status = 'waiting')`;

/** `timers`, reading. */
export function timerReader(connection: Connection): Reader["timers"] {
  const nextDue = connection.number(
    `SELECT min(due_at) FROM timers WHERE status = 'pending' AND ${OF_WAITING_RUN}`,
  );
  return {
    open: connection.one(timers, "WHERE run_id = ? AND status = 'pending'"),
    ofAttempt: connection.one(
      timers,
      "WHERE attempt_id = ? ORDER BY created_at DESC, timer_id DESC LIMIT 1",
    ),
    due: connection.many(
      timers,
      `WHERE status = 'pending' AND due_at <= ? AND ${OF_WAITING_RUN}
       ORDER BY due_at, timer_id LIMIT ?`,
    ),
    nextDue,
  };
}

/** `timers`, writing. */
export function timerWriter(connection: Connection): Pick<Tx["put"], "timer" | "timerChange"> {
  const update = connection.update(timers, ["timer_id"]);
  const insert = connection.insert(timers);
  return {
    timer: (timer) => insert(timer),
    timerChange: (timerId, change) => update(change, timerId),
  };
}
