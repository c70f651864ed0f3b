import type { SubmissionRecord } from "../../records-sessions.ts";
import type { SessionReader, SessionWriter } from "../session-tables.ts";
import type { Connection } from "./connection.ts";
import { plain, Table, value } from "./table.ts";

const submissions = new Table<SubmissionRecord>("submissions", {
  submissionId: plain("submission_id"),
  runId: plain("run_id"),
  interactionId: plain("interaction_id"),
  attemptId: plain("attempt_id"),
  status: plain("status"),
  value: value("value"),
  digest: plain("digest"),
  client: plain("client"),
  sessionId: plain("session_id"),
  reason: plain("reason"),
  error: plain("error"),
  receivedAt: plain("received_at"),
  closedAt: plain("closed_at"),
});

/** `submissions`, reading. */
export function submissionReader(connection: Connection): SessionReader["submissions"] {
  return {
    get: connection.one(submissions, "WHERE submission_id = ?"),
    validating: connection.one(submissions, "WHERE run_id = ? AND status = 'validating'"),
    newest: connection.one(
      submissions,
      "WHERE interaction_id = ? ORDER BY received_at DESC, submission_id DESC LIMIT 1",
    ),
    accepted: connection.one(submissions, "WHERE interaction_id = ? AND status = 'accepted'"),
    ofRun: connection.many(
      submissions,
      "WHERE run_id = ? ORDER BY received_at, submission_id LIMIT ?",
    ),
  };
}

/** `submissions`, writing. */
export function submissionWriter(
  connection: Connection,
): Pick<SessionWriter, "submission" | "submissionChange"> {
  const insert = connection.insert(submissions);
  const update = connection.update(submissions, ["submission_id"]);
  return {
    submission: (submission) => insert(submission),
    submissionChange: (submissionId, change) => update(change, submissionId),
  };
}
