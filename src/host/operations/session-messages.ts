/** What a run puts into its Pi session: made in the transaction of its cause. */
import { newId } from "../../platform/ids.ts";
import { HostError } from "../errors.ts";
import { messageLifecycle } from "../lifecycle/message.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import {
  MESSAGE_SUMMARY_CHARS_MAX,
  MESSAGES_OF_REQUEST_MAX,
  NOTIFICATION_CHARS_MAX,
} from "../limits.ts";
import type { Instant } from "../records.ts";
import type {
  InteractionKind,
  InteractionRecord,
  MessageKind,
  MessageReason,
  MessageRecord,
} from "../records-sessions.ts";
import { notificationText, requestText, RESULT_CHARS_SHOWN, resultText } from "../step-text.ts";
import { contractOf } from "./contract-of.ts";
import { runGraph } from "./graph.ts";
import { headlessSession } from "./headless-session.ts";
import { storeValue } from "./step.ts";
import type { Step } from "./step.ts";

export interface Asking {
  readonly reason: MessageReason;
  /** Not offered before. */
  readonly availableAt?: Instant;
}

export interface Telling {
  readonly text: string;
  /** The last word of a run, not news on the way. */
  readonly final: boolean;
  readonly node: string;
}

/** In a headless run nobody looks on: only what a model must do is put into its session. */
const ASKED_HEADLESS: Readonly<Record<InteractionKind, boolean>> = {
  agent: true,
  reply: true,
  checkpoint: false,
  human_decision: false,
};

/** The session that shows the run's steps. A headless run gets its own with its first step. */
export function sessionOf({ tx, run, at }: Step): string | undefined {
  const { runId, originSession, mode, projectDir } = run;
  if (originSession !== undefined || mode === "session") return originSession;
  // The step may have been read before this very transaction made the session.
  const own = tx.sessions.ofHeadlessRun(runId);
  if (own !== undefined) return own.sessionId;
  const sessionId = headlessSession(runId);
  tx.put.session({
    sessionId,
    cwd: projectDir,
    sessionFile: "",
    headlessRun: runId,
    coordinatorEpoch: 0,
    status: "detached",
    heldCount: 0,
    createdAt: at,
    updatedAt: at,
  });
  tx.put.runChange(runId, { originSession: sessionId });
  return sessionId;
}

/**
 * Puts an open request into the run's session, in place of what was on its way
 * before. Absent when this kind of request is not shown in this kind of run.
 */
export function askInSession(
  step: Step,
  interaction: InteractionRecord,
  { reason, availableAt }: Asking,
): MessageRecord | undefined {
  if (step.run.mode === "headless" && !ASKED_HEADLESS[interaction.kind]) return undefined;
  const { interactionId, kind, node, summary } = interaction;
  withdraw(step, interaction);
  if (reason === "resumed") supersede(step, interaction);
  const isDecision = kind === "human_decision";
  return putMessage(step, {
    kind: isDecision ? "human_decision" : "step",
    reason,
    interactionId,
    node,
    summary,
    text: textOf(step, interaction, reason),
    startsTurn: !isDecision,
    ...(availableAt === undefined ? {} : { availableAt }),
  });
}

/**
 * The request is not to be shown any more. With `why` a model that works on it is
 * asked to stop; without, its turn goes on by itself, as after an accepted result.
 */
export function closeRequest(step: Step, interaction: InteractionRecord, why?: string): void {
  withdraw(step, interaction);
  if (why === undefined) return;
  const { tx } = step;
  const turn = tx.turns.openOfInteraction(interaction.interactionId);
  if (turn === undefined || turn.abortReason !== undefined) return;
  tx.put.turnChange(turn.messageId, { abortReason: why });
}

/** News for the user of a run's session; a headless run has none. */
export function tellSession(step: Step, { text, final, node }: Telling): MessageRecord | undefined {
  if (text.length > NOTIFICATION_CHARS_MAX) {
    throw new HostError(
      "LIMIT_EXCEEDED",
      `the notification has ${text.length} characters, at most ${NOTIFICATION_CHARS_MAX} are taken`,
      { limit: NOTIFICATION_CHARS_MAX, actual: text.length },
    );
  }
  const { title: runTitle, mode } = step.run;
  if (mode === "headless") return undefined;
  return putMessage(step, {
    kind: "notification",
    reason: "first",
    node,
    summary: text,
    text: notificationText({ runTitle, text, final }),
    startsTurn: false,
  });
}

/**
 * Tells the session how the run ended, once. It never undoes the end: a text that
 * cannot be built now is built when the host starts again (rebuildMissingResults).
 */
export function announceEnd(step: Step): MessageRecord | undefined {
  const { tx, run } = step;
  if (run.mode === "headless" || !runLifecycle.isFinal(run.status)) return undefined;
  if (tx.messages.resultOfRun(run.runId) !== undefined) return undefined;
  const end = endOf(step);
  if (end === undefined) return undefined;
  return putMessage(step, { kind: "result", reason: "first", node: "", ...end });
}

interface Content {
  readonly kind: MessageKind;
  readonly reason: MessageReason;
  readonly interactionId?: string;
  readonly node: string;
  readonly summary: string;
  readonly text: string;
  readonly startsTurn: boolean;
  readonly availableAt?: Instant;
}

function putMessage(step: Step, { text, summary, ...content }: Content): MessageRecord | undefined {
  const { tx, run, at } = step;
  const sessionId = sessionOf(step);
  if (sessionId === undefined) return undefined;
  const message: MessageRecord = {
    ...content,
    messageId: newId("msg"),
    sessionId,
    runId: run.runId,
    position: tx.messages.lastPosition() + 1,
    status: "pending",
    summary: firstLine(summary),
    text: storeValue(tx, JSON.stringify(text), "the message"),
    createdAt: at,
  };
  tx.put.message(message);
  return message;
}

/** Takes back what has not been seen in the session. */
function withdraw({ tx, at }: Step, { interactionId }: InteractionRecord): void {
  const open = tx.messages.openOfInteraction(interactionId);
  if (open === undefined) return;
  const status = messageLifecycle.next(open.status, "cancel");
  tx.put.messageChange(open.messageId, { status, closedAt: at });
}

/** What was seen in the session counts no more: it is shown again. */
function supersede({ tx, at }: Step, { interactionId }: InteractionRecord): void {
  for (const shown of tx.messages.shownOfInteraction(interactionId, MESSAGES_OF_REQUEST_MAX)) {
    const status = messageLifecycle.next(shown.status, "supersede");
    tx.put.messageChange(shown.messageId, { status, closedAt: at });
  }
}

function textOf({ tx, run }: Step, interaction: InteractionRecord, reason: MessageReason): string {
  const { interactionId, kind, node, summary, request, schema } = interaction;
  const { deadlineAt, defaultAnswer, lastError } = interaction;
  return requestText({
    runTitle: run.title,
    node,
    interactionId,
    kind,
    reason,
    summary,
    contract: contractOf(tx, interaction),
    ...(request === undefined ? {} : { request: tx.values.read(request) }),
    ...(schema === undefined ? {} : { schema: tx.values.read(schema) }),
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
    ...(defaultAnswer === undefined ? {} : { defaultAnswer }),
    ...(lastError === undefined ? {} : { lastError }),
  });
}

type End = Pick<Content, "summary" | "text" | "startsTurn">;

/** Absent when what it would tell cannot be read. */
function endOf({ tx, run }: Step): End | undefined {
  try {
    const { runId, title, workflow, status, steps, result, error, detail } = run;
    const card = runGraph(tx, run).result === "card";
    const startsTurn = !card && status !== "cancelled";
    const summary = `${title}: ${status.replaceAll("_", " ")}`;
    const text = resultText({
      runId,
      runTitle: title,
      workflow,
      status,
      steps,
      startsTurn,
      unsuccessful: tx.attempts
        .newestClosedPerNode(runId)
        .filter((attempt) => attempt.status !== "ok")
        .map((attempt) => `${attempt.node} (${attempt.status})`),
      ...(result === undefined ? {} : { result: tx.values.head(result, RESULT_CHARS_SHOWN) }),
      ...(error === undefined ? {} : { error }),
      ...(detail === undefined ? {} : { note: detail }),
    });
    return { summary, text, startsTurn };
  } catch (failure) {
    // What SQLite itself refuses ends the transaction as a whole.
    if (failure instanceof Error && "code" in failure) throw failure;
    return undefined;
  }
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  if (line.length <= MESSAGE_SUMMARY_CHARS_MAX) return line;
  return `${line.slice(0, MESSAGE_SUMMARY_CHARS_MAX - 1)}…`;
}
