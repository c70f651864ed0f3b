/** What a session is shown next. Pure: from rows to at most one message. */
import { RESULT_TURN_AGE_MS_MAX } from "../limits.ts";
import type { RunStatus } from "../lifecycle/run.ts";
import type { Instant } from "../records.ts";
import type { InteractionRecord, MessageRecord } from "../records-sessions.ts";

/** An open request of one of the session's runs. */
export interface RequestRow {
  readonly interaction: Pick<InteractionRecord, "interactionId" | "runId" | "kind" | "status">;
  readonly runStatus: RunStatus;
  /** A message of it stands in the session, or was handed over to stand there. */
  readonly reached: boolean;
  /** A turn of the session works on it, or is about to stop. */
  readonly busy: boolean;
  /** Its message that has not been seen yet. */
  readonly open?: MessageRecord;
}

export interface SessionRows {
  readonly now: Instant;
  /** Until when a provider takes no requests of this session. */
  readonly heldUntil?: Instant;
  /** Open requests, oldest first. */
  readonly requests: readonly RequestRow[];
  /** Notifications and results that have not been seen yet, oldest first. */
  readonly news: readonly MessageRecord[];
}

export interface Choice {
  readonly message?: MessageRecord;
  /** The request that has the session's place; the others wait behind it. */
  readonly place?: string;
}

/**
 * A note needs no turn and goes first. Then whoever has the session's place goes
 * on; then how a run ended; and only then the oldest request that has not been
 * shown takes a place that is free.
 */
export function choose(rows: SessionRows): Choice {
  const holder = rows.requests.find((request) => holdsPlace(rows, request));
  const notes = rows.news.filter((message) => message.kind === "notification");
  const results = rows.news.filter((message) => message.kind === "result");
  const message = [
    ...notes,
    ...messagesOf(holder === undefined ? [] : [holder]),
    ...results,
    ...(holder === undefined ? messagesOf(rows.requests) : []),
  ].find((one) => isAvailable(rows, one));
  return {
    ...(message === undefined ? {} : { message }),
    ...(holder === undefined ? {} : { place: holder.interaction.interactionId }),
  };
}

/** How a run ended is told without a model turn when it is old news at its first chance. */
export function isOldNews({ kind, status, createdAt }: MessageRecord, now: Instant): boolean {
  return kind === "result" && status === "pending" && now - createdAt > RESULT_TURN_AGE_MS_MAX;
}

/** The oldest that was shown, unless it waits for a provider and so is in nobody's way. */
function holdsPlace({ now }: SessionRows, { reached, open, ...request }: RequestRow): boolean {
  const isWaiting = open?.reason === "rate_limit" && (open.availableAt ?? 0) > now;
  return reached && !isWaiting && isLive(request);
}

/** A run that is paused or blocked gives up its place. */
function isLive({
  interaction,
  runStatus,
}: Pick<RequestRow, "interaction" | "runStatus">): boolean {
  return interaction.status === "validating"
    ? runStatus !== "paused" && runStatus !== "blocked"
    : runStatus === "waiting";
}

/**
 * While a submission is validated its request is not shown: the verdict may close
 * it. Nor while a turn of it is open: one that was asked to stop has to end first.
 */
function messagesOf(requests: readonly RequestRow[]): readonly MessageRecord[] {
  return requests
    .filter((request) => request.interaction.status === "pending" && isLive(request))
    .filter(({ busy }) => !busy)
    .flatMap(({ open }) => (open === undefined ? [] : [open]));
}

/** What starts a turn waits for the provider, and everything for its own time. */
function isAvailable({ now, heldUntil = 0 }: SessionRows, message: MessageRecord): boolean {
  if ((message.availableAt ?? 0) > now) return false;
  return heldUntil <= now || !message.startsTurn || isOldNews(message, now);
}
