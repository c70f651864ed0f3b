/** Facts about the session on their way to the host. */
import type { Client } from "@connectrpc/connect";
import { rejectionOf } from "../client/rejection.ts";
import { Reason } from "../gen/piworkflows/common/v1/error_pb.ts";
import { TurnErrorKind, TurnOutcome } from "../gen/piworkflows/common/v1/session_pb.ts";
import type { SessionService } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import type { BranchReport, Reporter, Told } from "./picture.ts";
import type { TurnFact } from "./turn-facts.ts";

/** A host that takes longer is as good as gone; everything is told again to the next one. */
const REPORT_MS = 10_000;

/** The host takes no larger value, and no request that is much larger. */
const REPLY_BYTES_MAX = 8 * 1024 * 1024;
/** What is told of a text that is too long: why a turn failed may be a page of HTML. */
const TEXT_CHARS_MAX = 16 * 1024;

const OUTCOMES = {
  completed: TurnOutcome.COMPLETED,
  aborted: TurnOutcome.ABORTED,
  stopped: TurnOutcome.STOPPED,
  failed: TurnOutcome.FAILED,
  lost: TurnOutcome.LOST,
} as const;

const ERROR_KINDS = {
  rate_limit: TurnErrorKind.RATE_LIMIT,
  usage_limit: TurnErrorKind.USAGE_LIMIT,
  other: TurnErrorKind.OTHER,
} as const;

export interface ReporterOptions {
  readonly sessions: Client<typeof SessionService>;
  readonly sessionId: string;
  readonly attachmentId: string;
  /** Aborted when the attachment ends. */
  readonly signal: AbortSignal;
}

export function reporterOf(options: ReporterOptions): Reporter {
  const { sessions, sessionId, attachmentId, signal } = options;
  const call = { timeoutMs: REPORT_MS, signal };
  const head = { sessionId, attachmentId };
  return {
    attachmentId,
    branch: async (report) =>
      await told(sessions.reportBranch({ ...head, ...branchFields(report) }, call)),
    turn: async (fact) => await told(sessions.reportTurn({ ...head, ...turnFields(fact) }, call)),
  };
}

function branchFields({ messages, turn, ...rest }: BranchReport) {
  return { ...rest, messages: [...messages], ...(turn === undefined ? {} : { turn }) };
}

function turnFields({ messageId, entryId, end, replyText, replyWhole, error }: TurnFact) {
  return {
    messageId,
    entryId,
    outcome: end === undefined ? TurnOutcome.UNSPECIFIED : OUTCOMES[end],
    ...replyFields(replyText, replyWhole),
    ...(error === undefined ? {} : { error: errorFields(error) }),
  };
}

/** Whole, or marked as cut: a report that no host takes would be told again for ever. */
function replyFields(replyText: string, replyWhole: boolean) {
  const bytes = Buffer.from(replyText);
  if (bytes.length <= REPLY_BYTES_MAX) return { replyText, replyWhole };
  return { replyText: bytes.toString("utf8", 0, TEXT_CHARS_MAX), replyWhole: false };
}

function errorFields({ kind, message, retryAfterMs }: NonNullable<TurnFact["error"]>) {
  return {
    kind: ERROR_KINDS[kind],
    message: message.slice(0, TEXT_CHARS_MAX),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: BigInt(retryAfterMs) }),
  };
}

async function told(answer: Promise<unknown>): Promise<Told> {
  try {
    await answer;
    return "taken";
  } catch (error) {
    const reason = rejectionOf(error)?.reason;
    // Of these the next attachment may hear more.
    const passes = reason === undefined || PASSING.has(reason);
    return passes ? "lost" : "refused";
  }
}

const PASSING: ReadonlySet<Reason> = new Set([
  Reason.SESSION_FENCED,
  Reason.HOST_STOPPING,
  Reason.STORAGE_FULL,
  Reason.STORAGE_FAILED,
  Reason.VERSION_SKEW,
]);
