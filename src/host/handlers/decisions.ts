/** Human decisions: answered by a person only. */
import { create } from "@bufbuild/protobuf";
import {
  AnswerDecisionRequestSchema,
  AnswerDecisionResponseSchema,
} from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type {
  AnswerDecisionRequest,
  AnswerDecisionResponse,
} from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import { HostError } from "../errors.ts";
import { answerDecision as answer } from "../operations/decisions.ts";
import { checkBytes, checkName, checkValueSize } from "./checks.ts";
import { identify } from "./fingerprint.ts";
import { presentInteraction } from "./interaction-views.ts";
import { findInteraction } from "./lookups.ts";
import type { HandlerParts } from "./parts.ts";
import { answerOnce, receiptMessage } from "./receipts.ts";

export async function answerDecision(
  { host, capabilities }: HandlerParts,
  request: AnswerDecisionRequest,
): Promise<AnswerDecisionResponse> {
  const { reader } = host.store;
  const choice = checkName("choice", request.choice);
  const text = checkValueSize("text", request.text);
  checkBytes("capability", request.capability);
  // What proves a person is no part of what was decided, and must not lie in the store.
  const asked = identify(AnswerDecisionRequestSchema, { ...request, capability: "" });
  const result = await answerOnce(reader, asked, async () => {
    const { interactionId } = findInteraction(reader, request.interactionId);
    if (!capabilities.check(request.capability)) throw humanOnly(interactionId);
    return answer(host, asked, { interactionId, choice, text });
  });
  return create(AnswerDecisionResponseSchema, {
    receipt: receiptMessage(result),
    ...presentInteraction(reader, request.interactionId),
  });
}

function humanOnly(interactionId: string): HostError {
  return new HostError(
    "HUMAN_ONLY",
    `only a person decides ${interactionId}: with "/workflow decide ${interactionId}" in the ` +
      `session, or with "pi-workflows decide ${interactionId}" at a terminal`,
  );
}
