import type { InteractionRecord } from "../../records-sessions.ts";
import type { InteractionFilter, Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { plain, Table, value } from "./table.ts";

const interactions = new Table<InteractionRecord>("interactions", {
  interactionId: plain("interaction_id"),
  runId: plain("run_id"),
  attemptId: plain("attempt_id"),
  node: plain("node"),
  visit: plain("visit"),
  kind: plain("kind"),
  status: plain("status"),
  summary: plain("summary"),
  request: value("request"),
  schema: value("schema"),
  contract: value("contract"),
  defaultAnswer: plain("default_json"),
  answer: value("answer"),
  answerDigest: plain("answer_digest"),
  answeredBy: plain("answered_by"),
  deadlineAt: plain("deadline_at"),
  lastError: plain("last_error"),
  reminders: plain("reminders"),
  modelErrors: plain("model_errors"),
  lostTurns: plain("lost_turns"),
  createdAt: plain("created_at"),
  closedAt: plain("closed_at"),
});

/** In the words of the index of open ones. */
const OPEN = "status IN ('pending', 'validating')";

/** A paused run's deadlines do not count. */
const OF_WAITING_RUN = `EXISTS (SELECT 1 FROM runs
  WHERE runs.run_id = interactions.run_id AND runs.status = 'waiting')`;

/** `interactions`, reading. */
export function interactionReader(connection: Connection): Reader["interactions"] {
  const countPending = connection.number(`SELECT count(*) FROM interactions WHERE ${OPEN}`);
  const nextDeadline = connection.number(
    `SELECT min(deadline_at) FROM interactions
     WHERE status = 'pending' AND deadline_at IS NOT NULL AND ${OF_WAITING_RUN}`,
  );
  return {
    get: connection.one(interactions, "WHERE interaction_id = ?"),
    open: connection.one(interactions, `WHERE run_id = ? AND ${OPEN}`),
    openOfSession: connection.many(
      interactions,
      `JOIN runs ON runs.run_id = interactions.run_id
       WHERE runs.origin_session = ? AND runs.finished_at IS NULL
         AND interactions.status IN ('pending', 'validating')
       ORDER BY interactions.interaction_id LIMIT ?`,
    ),
    ofAttempt: connection.one(
      interactions,
      "WHERE attempt_id = ? ORDER BY created_at DESC, interaction_id DESC LIMIT 1",
    ),
    idsByPrefix: connection.idsByPrefix("interactions", "interaction_id"),
    idsBySuffix: connection.idsBySuffix("interactions", "interaction_id"),
    page: (filter) => page(connection, filter),
    countPending: () => countPending() ?? 0,
    due: connection.many(
      interactions,
      `WHERE status = 'pending' AND deadline_at IS NOT NULL AND deadline_at <= ?
         AND ${OF_WAITING_RUN} ORDER BY deadline_at, interaction_id LIMIT ?`,
    ),
    nextDeadline,
  };
}

function page(connection: Connection, filter: InteractionFilter): InteractionRecord[] {
  const conditions = ["interaction_id > ?"];
  if (filter.runId !== undefined) conditions.push("run_id = ?");
  if (!filter.includeClosed) conditions.push(OPEN);
  // Few are open, and the planner does not know how few.
  const index = filter.includeClosed ? "" : "INDEXED BY interactions_one_open";
  return connection.select(
    interactions,
    `${index} WHERE ${conditions.join(" AND ")} ORDER BY interaction_id LIMIT ?`,
    [filter.after ?? "", ...(filter.runId === undefined ? [] : [filter.runId]), filter.limit],
  );
}

/** `interactions`, writing. */
export function interactionWriter(
  connection: Connection,
): Pick<Tx["put"], "interaction" | "interactionChange"> {
  const update = connection.update(interactions, ["interaction_id"]);
  const insert = connection.insert(interactions);
  return {
    interaction: (interaction) => insert(interaction),
    interactionChange: (interactionId, change) => update(change, interactionId),
  };
}
