/** Reading refusals of a host. Clients branch on the reason, never on a text. */
import { Code, ConnectError } from "@connectrpc/connect";
import { Reason, RejectionSchema } from "../gen/piworkflows/common/v1/error_pb.ts";
import type { Rejection } from "../gen/piworkflows/common/v1/error_pb.ts";

/** The host's refusal, when that is what `error` is. */
export function rejectionOf(error: unknown): Rejection | undefined {
  return error instanceof ConnectError ? error.findDetails(RejectionSchema)[0] : undefined;
}

export function isRejectedFor(error: unknown, reason: Reason): boolean {
  return rejectionOf(error)?.reason === reason;
}

/**
 * True when the call did not get its answer because the host went away or is
 * going. What became of the call is then unknown; the same request with the
 * same key is safe to send again.
 */
export function isHostGone(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  const rejection = rejectionOf(error);
  if (rejection !== undefined) return rejection.reason === Reason.HOST_STOPPING;
  if (error.isWireError) return error.code === Code.Unavailable;
  return BROKEN.has(error.code) || (error.code === Code.Internal && isBrokenOff(error));
}

/** Node's own errors carry a code as text; what a host sends carries no cause. */
function isBrokenOff({ cause, rawMessage }: ConnectError): boolean {
  return isNodeError(cause) || CUT_OFF.test(rawMessage);
}

/** A host that stops lets its streams go without an error; the library knows the case by no other sign. */
const CUT_OFF = /^http\/2 stream closed with error code .* before the response was received$/;

function isNodeError(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string";
}

/**
 * How a connection that breaks in mid-call is told, depending on the frame that
 * ended it; an answer without its end is an invalid argument to the library.
 */
const BROKEN: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.Canceled,
  Code.Aborted,
  Code.InvalidArgument,
]);
