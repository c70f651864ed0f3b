import { ClaimLostError, HostError } from "../../src/host/errors.ts";
import type { ClaimLoss, RejectionReason } from "../../src/host/errors.ts";

/** The refusal that an operation must end with; a success or any other error fails the test. */
export async function refusal(operation: Promise<unknown>): Promise<HostError> {
  try {
    await operation;
  } catch (error) {
    if (error instanceof HostError) return error;
    throw error;
  }
  throw new Error("the operation was not refused");
}

export async function reasonOf(operation: Promise<unknown>): Promise<RejectionReason> {
  return (await refusal(operation)).reason;
}

export async function lossOf(operation: Promise<unknown>): Promise<ClaimLoss> {
  const error = await refusal(operation);
  if (error instanceof ClaimLostError) return error.loss;
  throw error;
}

/** The refusal with this very reason; any other end of the operation fails the test. */
export async function expectRefusal(
  operation: Promise<unknown>,
  reason: RejectionReason,
): Promise<HostError> {
  const error = await refusal(operation);
  if (error.reason !== reason) throw error;
  return error;
}
