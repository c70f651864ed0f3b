/** The result of an agent step: proposed, and answered when a worker has validated it. */
import { create } from "@bufbuild/protobuf";
import {
  SubmitResultRequestSchema,
  SubmitResultResponseSchema,
} from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type {
  SubmitResultRequest,
  SubmitResultResponse,
} from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type { HostContext } from "../context.ts";
import { HostError } from "../errors.ts";
import { submitResult as submit } from "../operations/submissions.ts";
import type { SubmissionRecord } from "../records-sessions.ts";
import type { CommandResult } from "../store/doors.ts";
import { checkName, checkSession } from "./checks.ts";
import { identify } from "./fingerprint.ts";
import { presentInteraction } from "./interaction-views.ts";
import type { HandlerParts } from "./parts.ts";
import { answerOnce, receiptMessage } from "./receipts.ts";
import { jsonOf } from "./values.ts";

/**
 * Stores the submission, then waits for its verdict. Whoever lost the connection
 * calls again with the key: the receipt leads to the same submission.
 */
export async function submitResult(
  { host }: HandlerParts,
  request: SubmitResultRequest,
  signal: AbortSignal,
): Promise<SubmitResultResponse> {
  const { reader } = host.store;
  const interactionId = checkName("interaction_id", request.interactionId);
  const valueJson = jsonOf("value", request.value);
  const named = checkSession(request.sessionId);
  const asked = identify(SubmitResultRequestSchema, request);
  const result = await answerOnce(reader, asked, () =>
    submit(host, asked, { interactionId, valueJson, ...named }),
  );
  const submission = await settled(host, submissionIdOf(result), signal);
  return create(SubmitResultResponseSchema, {
    receipt: receiptMessage(result),
    submissionId: submission.submissionId,
    accepted: submission.status === "accepted",
    error: submission.error ?? "",
    ...presentInteraction(reader, interactionId),
  });
}

function submissionIdOf({ extra }: CommandResult): string {
  // The operation stores it with every receipt of this method.
  return (extra as { readonly submissionId: string }).submissionId;
}

/** Subscribes before it reads, so that no change is missed. */
function settled(
  host: HostContext,
  submissionId: string,
  signal: AbortSignal,
): Promise<SubmissionRecord> {
  const { store } = host;
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const submission = store.reader.submissions.get(submissionId);
      if (submission?.status === "validating") return;
      end();
      if (submission === undefined) reject(pruned(submissionId));
      else resolve(submission);
    };
    const leave = (): void => {
      end();
      reject(signal.reason as Error);
    };
    const unsubscribe = store.subscribe(look);
    const end = (): void => {
      unsubscribe();
      signal.removeEventListener("abort", leave);
    };
    signal.addEventListener("abort", leave, { once: true });
    look();
  });
}

function pruned(submissionId: string): HostError {
  return new HostError(
    "INTERACTION_NOT_FOUND",
    `submission ${submissionId} was pruned with its run`,
  );
}
