/** States that no operation can produce, for diagnosis and repair. */
import { SESSION_WRECKS } from "./session-wrecks.ts";

const ENDED = "UPDATE runs SET status = 'failed', finished_at = 1 WHERE run_id = $run";
const QUEUED = "UPDATE runs SET status = 'queued' WHERE run_id = $run";
const RELEASED = "UPDATE claims SET released = 1 WHERE run_id = $run";

/** A contradiction made by hand: the scene, what is done to its rows, and what must be found. */
export interface Wreck {
  readonly scene: string;
  readonly sql: readonly string[];
  readonly found: readonly string[];
  /** What must still be found after a repair; everything by default. */
  readonly remaining?: readonly string[];
}

const RUNNING = "running";
const ASKING = "waiting for an answer";

export const WRECKS: Readonly<Record<string, Wreck>> = {
  ...SESSION_WRECKS,
  "a terminal run with everything open": {
    scene: "running with an idempotent effect",
    sql: [
      ENDED,
      `INSERT INTO timers SELECT 'tim_x', run_id, attempt_id, 'wait', 'pending', 5, 1, NULL
         FROM attempts WHERE run_id = $run`,
      `INSERT INTO interactions (interaction_id, run_id, attempt_id, node, visit, kind, status,
         summary, created_at)
         SELECT 'int_x', run_id, attempt_id, node, visit, 'checkpoint', 'pending', 's', 1
         FROM attempts WHERE run_id = $run`,
    ],
    found: Array.from({ length: 5 }, () => "terminal_leaves_nothing_open"),
    remaining: [],
  },
  "a terminal run with a pending effect": {
    scene: "running with an idempotent effect",
    sql: [
      ENDED,
      RELEASED,
      "UPDATE attempts SET status = 'failed', finished_at = 1 WHERE run_id = $run",
      "UPDATE effects SET status = 'pending' WHERE run_id = $run",
    ],
    found: ["terminal_leaves_nothing_open"],
    remaining: [],
  },
  "a running run without a claim": {
    scene: RUNNING,
    sql: [RELEASED],
    found: ["claim_means_active"],
    remaining: [],
  },
  "a running run without a claim that applies an idempotent effect": {
    scene: "running with an idempotent effect",
    sql: [RELEASED],
    found: ["claim_means_active"],
    remaining: [],
  },
  "a running run without a claim that applies a manual effect": {
    scene: "running with a manual effect",
    sql: [RELEASED],
    found: ["claim_means_active"],
    remaining: [],
  },
  "a queued run with a claim and a running attempt": {
    scene: RUNNING,
    sql: [QUEUED],
    found: ["claim_means_active", "idle_executes_nothing"],
    remaining: [],
  },
  "a queued run with an effect that is being applied": {
    scene: "running with an idempotent effect",
    sql: [QUEUED, RELEASED],
    found: ["idle_executes_nothing", "applying_means_running"],
    remaining: [],
  },
  "a queued run with a manual effect that is being applied": {
    scene: "running with a manual effect",
    sql: [QUEUED, RELEASED],
    found: ["idle_executes_nothing", "applying_means_running"],
    remaining: ["applying_means_running"],
  },
  "a claim of an old generation": {
    scene: RUNNING,
    sql: ["UPDATE runs SET generation = 9 WHERE run_id = $run"],
    found: ["claim_is_newest"],
  },
  "a claim without a worker": {
    scene: RUNNING,
    sql: ["DELETE FROM workers WHERE run_id = $run"],
    found: ["claim_has_worker"],
  },
  "a running run that executes nothing": {
    scene: RUNNING,
    sql: ["UPDATE attempts SET status = 'interrupted', finished_at = 1 WHERE run_id = $run"],
    found: ["active_has_position"],
  },
  "a running run that routes while its attempt runs": {
    scene: RUNNING,
    sql: ["UPDATE runs SET routing = 1 WHERE run_id = $run"],
    found: ["active_has_position", "routing_has_outcome"],
  },
  "a running run whose attempt waits": {
    scene: RUNNING,
    sql: ["UPDATE attempts SET status = 'waiting' WHERE run_id = $run"],
    found: ["active_has_position", "waiting_attempt_has_cause"],
  },
  "a run that routes on nothing": {
    scene: "queued",
    sql: ["UPDATE runs SET routing = 1 WHERE run_id = $run"],
    found: ["routing_has_outcome"],
  },
  "an attempt elsewhere": {
    scene: RUNNING,
    sql: ["UPDATE attempts SET visit = 7 WHERE run_id = $run"],
    found: ["attempt_at_position"],
  },
  "a node that the graph does not have": {
    scene: "queued",
    sql: ["UPDATE runs SET node = 'nowhere' WHERE run_id = $run"],
    found: ["node_is_in_graph"],
  },
  "a waiting run that waits for nothing": {
    scene: ASKING,
    sql: ["UPDATE interactions SET status = 'expired', closed_at = 1 WHERE run_id = $run"],
    found: ["waiting_for_one", "waiting_attempt_has_cause"],
  },
  "a waiting run that waits for two things": {
    scene: ASKING,
    sql: [
      `INSERT INTO timers SELECT 'tim_x', run_id, attempt_id, 'wait', 'pending', 5, 1, NULL
         FROM attempts WHERE run_id = $run`,
    ],
    found: ["waiting_for_one"],
  },
  "a queued run that waits": {
    scene: ASKING,
    sql: [QUEUED],
    found: ["waiting_for_one", "waiting_attempt_has_cause"],
  },
  "an open question whose attempt runs": {
    scene: ASKING,
    sql: ["UPDATE attempts SET status = 'running' WHERE run_id = $run"],
    found: ["idle_executes_nothing", "wait_has_attempt"],
  },
  "a wait whose attempt has ended": {
    scene: "waiting for a timer",
    sql: ["UPDATE attempts SET status = 'ok', finished_at = 1 WHERE run_id = $run"],
    found: ["wait_has_attempt"],
  },
  "a back-off of an attempt that did not fail": {
    scene: "waiting for another try",
    sql: ["UPDATE attempts SET status = 'ok' WHERE run_id = $run"],
    found: ["wait_has_attempt"],
  },
  "an answer that is no output": {
    scene: ASKING,
    sql: [
      `UPDATE interactions SET status = 'accepted', closed_at = 1, answer_digest = 'x'
         WHERE run_id = $run`,
    ],
    found: ["waiting_for_one", "waiting_attempt_has_cause", "answer_is_output"],
  },
  "an ambiguous effect that holds nothing": {
    scene: "running with a manual effect",
    sql: ["UPDATE effects SET status = 'ambiguous' WHERE run_id = $run"],
    found: ["ambiguous_holds_run"],
  },
  "a pause that waits for nothing": {
    scene: RUNNING,
    sql: ["UPDATE runs SET pause_requested = 1 WHERE run_id = $run"],
    found: ["pause_waits_for_effect"],
  },
  "a gap in the events": {
    scene: RUNNING,
    sql: ["DELETE FROM events WHERE run_id = $run AND revision = 2"],
    found: ["events_without_gaps"],
  },
  "an event too many": {
    scene: "queued",
    sql: [
      `INSERT INTO events (run_id, revision, kind, at, data_json)
         VALUES ($run, 2, 'advance', 1, '{}')`,
    ],
    found: ["events_without_gaps"],
  },
};
