/** The same for what joins runs to sessions. */
import type { Wreck } from "./wrecks.ts";

const ASKED = "waiting for a model";
const WORKED_ON = "waiting for a model that works on it";
const VALIDATING = "validating";
const TO_VALIDATE = "queued for a validation";
const DECIDED = "running with a decision";
const ACCEPTED = "running with an accepted result";

export const SESSION_WRECKS: Readonly<Record<string, Wreck>> = {
  "a terminal run that validates and asks": {
    scene: TO_VALIDATE,
    sql: [
      `UPDATE runs SET status = 'failed', finished_at = 1, mode = 'headless' WHERE run_id = $run`,
    ],
    // Its attempt, its request, what was submitted, and the message that asks.
    found: Array.from({ length: 4 }, () => "terminal_leaves_nothing_open"),
    remaining: [],
  },
  "a terminal run whose session was not told": {
    scene: ASKED,
    sql: [
      "UPDATE runs SET status = 'failed', finished_at = 1 WHERE run_id = $run",
      "UPDATE attempts SET status = 'failed', finished_at = 1 WHERE run_id = $run",
      "UPDATE interactions SET status = 'cancelled', closed_at = 1 WHERE run_id = $run",
      "UPDATE messages SET status = 'cancelled', closed_at = 1 WHERE run_id = $run",
    ],
    found: ["end_is_told"],
    remaining: [],
  },
  "a waiting run with a submission that nobody validates": {
    scene: TO_VALIDATE,
    sql: ["UPDATE runs SET status = 'waiting' WHERE run_id = $run"],
    found: ["validating_means_active"],
    remaining: [],
  },
  "a waiting run that validates nothing": {
    scene: TO_VALIDATE,
    sql: [
      "UPDATE runs SET status = 'waiting' WHERE run_id = $run",
      "DELETE FROM submissions WHERE run_id = $run",
    ],
    found: ["validating_means_active"],
    remaining: [],
  },
  "a queued run that is to validate nothing": {
    scene: TO_VALIDATE,
    sql: ["DELETE FROM submissions WHERE run_id = $run"],
    found: ["validating_means_active"],
  },
  "a submission whose run does something else": {
    scene: TO_VALIDATE,
    sql: ["UPDATE runs SET activation = 'continue' WHERE run_id = $run"],
    found: ["validating_means_active"],
  },
  "a submission for a request that is not validating": {
    scene: VALIDATING,
    sql: ["UPDATE interactions SET status = 'pending' WHERE run_id = $run"],
    found: ["waiting_for_one", "waiting_attempt_has_cause", "validating_means_active"],
  },
  "an accepted submission that answered nothing": {
    scene: ACCEPTED,
    sql: ["UPDATE interactions SET status = 'cancelled' WHERE run_id = $run"],
    found: ["submission_is_answer"],
  },
  "a result that nobody submitted": {
    scene: ACCEPTED,
    sql: ["DELETE FROM submissions WHERE run_id = $run"],
    found: ["submission_is_answer"],
  },
  "a result that was submitted twice": {
    scene: ACCEPTED,
    sql: [
      `INSERT INTO submissions SELECT 'sub_x', run_id, interaction_id, attempt_id, status,
         value_json, value_blob, digest, client, session_id, reason, error, received_at, closed_at
         FROM submissions WHERE run_id = $run`,
    ],
    found: ["submission_is_answer"],
  },
  "a decision for what nobody could choose": {
    scene: DECIDED,
    sql: [`UPDATE interactions SET answer_json = '{"choice":"maybe"}' WHERE run_id = $run`],
    found: ["decision_is_a_choice"],
  },
  "a request that its session was never asked": {
    scene: ASKED,
    sql: ["DELETE FROM messages WHERE run_id = $run"],
    found: ["open_request_is_asked"],
    remaining: [],
  },
  "a request that its session is not asked any more": {
    scene: ASKED,
    sql: ["UPDATE messages SET status = 'cancelled', closed_at = 1 WHERE run_id = $run"],
    found: ["open_request_is_asked"],
    remaining: [],
  },
  "a decision whose card was taken back": {
    scene: "waiting for a person",
    sql: ["UPDATE messages SET status = 'cancelled', closed_at = 1 WHERE run_id = $run"],
    found: ["open_request_is_asked"],
    remaining: [],
  },
  "a step whose turn is over": {
    scene: WORKED_ON,
    sql: ["UPDATE turns SET status = 'completed', closed_at = 1 WHERE run_id = $run"],
    found: ["open_request_is_asked"],
    remaining: [],
  },
  "a paused run that is to be shown": {
    scene: "paused while a model was asked",
    sql: ["UPDATE messages SET status = 'pending', closed_at = NULL WHERE run_id = $run"],
    found: ["open_message_has_request"],
    remaining: [],
  },
  "a message that asks for what is answered": {
    scene: ACCEPTED,
    sql: ["UPDATE messages SET status = 'offered', closed_at = NULL WHERE run_id = $run"],
    found: ["open_message_has_request"],
    remaining: [],
  },
};
