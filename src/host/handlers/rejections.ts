/** How a refusal travels: a Connect code for programs in between, one detail for ours. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Interceptor } from "@connectrpc/connect";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ClaimLoss, Reason, RejectionSchema } from "../../gen/piworkflows/common/v1/error_pb.ts";
import { newId } from "../../platform/ids.ts";
import type { Log } from "../../platform/log.ts";
import { ClaimLostError, HostError } from "../errors.ts";
import type { ClaimLoss as ClaimLossName, RejectionReason } from "../errors.ts";

/**
 * Logs a fault of ours under an id and returns the id. The caller is told the
 * id alone: what went wrong inside is nothing it could act on.
 */
export type FaultLog = (error: unknown, method: string) => string;

export function faultLog(log: Log): FaultLog {
  return (error, method) => {
    const id = newId("err");
    log.error("call.failed", { id, method, error });
    return id;
  };
}

const CODES: Readonly<Record<RejectionReason, readonly [Code, Reason]>> = {
  CLAIM_LOST: [Code.Aborted, Reason.CLAIM_LOST],
  STALE_REVISION: [Code.FailedPrecondition, Reason.STALE_REVISION],
  ILLEGAL_TRANSITION: [Code.FailedPrecondition, Reason.ILLEGAL_TRANSITION],
  IDEMPOTENCY_CONFLICT: [Code.AlreadyExists, Reason.IDEMPOTENCY_CONFLICT],
  RUN_NOT_FOUND: [Code.NotFound, Reason.RUN_NOT_FOUND],
  INTERACTION_NOT_FOUND: [Code.NotFound, Reason.INTERACTION_NOT_FOUND],
  INTERACTION_CLOSED: [Code.FailedPrecondition, Reason.INTERACTION_CLOSED],
  WRONG_KIND: [Code.FailedPrecondition, Reason.WRONG_KIND],
  WORKFLOW_INVALID: [Code.InvalidArgument, Reason.WORKFLOW_INVALID],
  WORKFLOW_NOT_FOUND: [Code.NotFound, Reason.WORKFLOW_NOT_FOUND],
  INPUT_INVALID: [Code.InvalidArgument, Reason.INPUT_INVALID],
  ANSWER_INVALID: [Code.InvalidArgument, Reason.ANSWER_INVALID],
  SOURCE_CHANGED: [Code.FailedPrecondition, Reason.SOURCE_CHANGED],
  EFFECT_AMBIGUOUS: [Code.FailedPrecondition, Reason.EFFECT_AMBIGUOUS],
  EFFECT_NOT_FOUND: [Code.NotFound, Reason.EFFECT_NOT_FOUND],
  LIMIT_EXCEEDED: [Code.ResourceExhausted, Reason.LIMIT_EXCEEDED],
  HOST_STOPPING: [Code.Unavailable, Reason.HOST_STOPPING],
  VERSION_SKEW: [Code.FailedPrecondition, Reason.VERSION_SKEW],
  STORAGE_FULL: [Code.ResourceExhausted, Reason.STORAGE_FULL],
  STORAGE_FAILED: [Code.Unavailable, Reason.STORAGE_FAILED],
  WORKER_UNKNOWN: [Code.Unauthenticated, Reason.WORKER_UNKNOWN],
  WORKER_FAILED: [Code.Unavailable, Reason.WORKER_FAILED],
  REQUEST_INVALID: [Code.InvalidArgument, Reason.REQUEST_INVALID],
  SUBMISSION_IN_PROGRESS: [Code.FailedPrecondition, Reason.SUBMISSION_IN_PROGRESS],
  WRONG_SESSION: [Code.PermissionDenied, Reason.WRONG_SESSION],
  HUMAN_ONLY: [Code.PermissionDenied, Reason.HUMAN_ONLY],
  SESSION_FENCED: [Code.Aborted, Reason.SESSION_FENCED],
};

const LOSSES: Readonly<Record<ClaimLossName, ClaimLoss>> = {
  missing_authority: ClaimLoss.MISSING_AUTHORITY,
  expired: ClaimLoss.EXPIRED,
  owner_changed: ClaimLoss.OWNER_CHANGED,
  token_changed: ClaimLoss.TOKEN_CHANGED,
  generation_changed: ClaimLoss.GENERATION_CHANGED,
};

/** The wire's number of a reason. */
export function reasonNumber(reason: RejectionReason): Reason {
  return CODES[reason][1];
}

/** The wire's number of a way to lose a claim. */
export function claimLossNumber(loss: ClaimLossName): ClaimLoss {
  return LOSSES[loss];
}

/** A refusal as it is sent. */
export function rejectionError(refusal: HostError): ConnectError {
  const [code] = CODES[refusal.reason];
  const details = [{ desc: RejectionSchema, value: rejectionOf(refusal) }];
  return new ConnectError(refusal.message, code, undefined, details);
}

/** Puts refusals on the wire, also those that come in the middle of a stream. */
export function rejections(logFault: FaultLog): Interceptor {
  return (next) => async (request) => {
    const method = `${request.service.typeName}/${request.method.name}`;
    const translate = (error: unknown): ConnectError => toConnectError(error, method, logFault);
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: translated(response.message, translate) };
    } catch (error) {
      throw translate(error);
    }
  };
}

function toConnectError(error: unknown, method: string, logFault: FaultLog): ConnectError {
  // What is one already was made by the connection: cancelled, overdue, stopping.
  if (error instanceof ConnectError) return error;
  if (error instanceof HostError) return rejectionError(error);
  if (isCallerGone(error)) return new ConnectError("the caller went away", Code.Canceled);
  const id = logFault(error, method);
  return new ConnectError(`internal error ${id}; the host's log has more under it`, Code.Internal);
}

/** What Node says of a request whose stream ended before its body did. */
const GONE: ReadonlySet<unknown> = new Set([
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_HTTP2_STREAM_ERROR",
  "ERR_HTTP2_SESSION_ERROR",
  "ERR_HTTP2_INVALID_STREAM",
]);

function isCallerGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && GONE.has(error.code);
}

async function* translated<T>(
  messages: AsyncIterable<T>,
  translate: (error: unknown) => ConnectError,
): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw translate(error);
  }
}

function rejectionOf(refusal: HostError): MessageInitShape<typeof RejectionSchema> {
  const { details } = refusal;
  return {
    reason: reasonNumber(refusal.reason),
    message: refusal.message,
    runId: details.runId ?? "",
    revision: BigInt(details.revision ?? 0),
    claimLoss: refusal instanceof ClaimLostError ? LOSSES[refusal.loss] : ClaimLoss.UNSPECIFIED,
    problems: [...(details.problems ?? [])],
    names: [...(details.names ?? [])],
    state: details.state ?? "",
    limit: BigInt(details.limit ?? 0),
    actual: BigInt(details.actual ?? 0),
  };
}
