/** InteractionService: one method per RPC. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  AnswerCheckpointRequestSchema,
  AnswerCheckpointResponseSchema,
  GetInteractionResponseSchema,
  ListInteractionsResponseSchema,
} from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type {
  AnswerCheckpointRequest,
  AnswerCheckpointResponse,
  InteractionService,
  ListInteractionsRequest,
  ListInteractionsResponse,
} from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import { checkAnswer } from "../answer-schema.ts";
import { PAGE_DEFAULT, PAGE_MAX } from "../limits.ts";
import { answerCheckpoint as answer } from "../operations/interactions.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import type { Reader } from "../store/tx.ts";
import { checkBytes, checkSession, pageSize } from "./checks.ts";
import { identify } from "./fingerprint.ts";
import { answerDecision } from "./decisions.ts";
import { interactionMessage, presentInteraction } from "./interaction-views.ts";
import { findInteraction, findRunIdOrAny } from "./lookups.ts";
import type { HandlerParts } from "./parts.ts";
import { answerOnce, receiptMessage } from "./receipts.ts";
import { StepUpdates } from "./step-updates.ts";
import { submitResult } from "./submissions.ts";
import { jsonOf } from "./values.ts";

export function interactionService(parts: HandlerParts): ServiceImpl<typeof InteractionService> {
  const { reader } = parts.host.store;
  const updates = new StepUpdates(parts.host);
  return {
    getInteraction({ interactionId }) {
      const interaction = findInteraction(reader, interactionId);
      return create(GetInteractionResponseSchema, {
        interaction: interactionMessage(reader, interaction, "whole"),
      });
    },
    listInteractions: (request) => listInteractions(reader, request),
    answerCheckpoint: (request) => answerCheckpoint(parts, request),
    submitResult: (request, { signal }) => submitResult(parts, request, signal),
    publishUpdate: (request) => updates.publish(request),
    answerDecision: (request) => answerDecision(parts, request),
  };
}

function listInteractions(
  reader: Reader,
  request: ListInteractionsRequest,
): ListInteractionsResponse {
  const limit = pageSize(request.pageSize, PAGE_DEFAULT, PAGE_MAX);
  const runId = findRunIdOrAny(reader, request.runId);
  const after = checkBytes("page_token", request.pageToken);
  const found = reader.interactions.page({
    includeClosed: request.includeClosed,
    limit: limit + 1,
    ...(runId === undefined ? {} : { runId }),
    ...(after === "" ? {} : { after }),
  });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return create(ListInteractionsResponseSchema, {
    interactions: page.map((one) => interactionMessage(reader, one, "cut")),
    nextPageToken: last?.interactionId ?? "",
  });
}

async function answerCheckpoint(
  { host }: HandlerParts,
  request: AnswerCheckpointRequest,
): Promise<AnswerCheckpointResponse> {
  const { reader } = host.store;
  const answerJson = jsonOf("answer", request.answer);
  const asked = identify(AnswerCheckpointRequestSchema, request);
  const named = checkSession(request.sessionId);
  const result = await answerOnce(reader, asked, async () => {
    const interaction = findInteraction(reader, request.interactionId);
    await checkFits(reader, interaction, answerJson);
    const { interactionId } = interaction;
    return answer(host, asked, { interactionId, answerJson, ...named });
  });
  // The worker's frames leave first: this turn of the loop sends them when it ends.
  await nextTurn();
  return create(AnswerCheckpointResponseSchema, {
    receipt: receiptMessage(result),
    ...presentInteraction(reader, request.interactionId),
  });
}

/** Only an open question can be answered wrongly; of a closed one the caller is told that. */
async function checkFits(
  reader: Reader,
  { status, kind, schema, runId }: InteractionRecord,
  answerJson: string,
): Promise<void> {
  if (kind !== "checkpoint" || status !== "pending" || schema === undefined) return;
  await checkAnswer(reader.values.read(schema), answerJson, { runId });
}
