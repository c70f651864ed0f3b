/** InteractionService: one method per RPC. */
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Interaction } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
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
import { HostError } from "../errors.ts";
import { PAGE_DEFAULT, PAGE_MAX } from "../limits.ts";
import { answerCheckpoint as answer } from "../operations/interactions.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import type { Reader } from "../store/tx.ts";
import { checkBytes, pageSize } from "./checks.ts";
import { identify } from "./fingerprint.ts";
import { interactionMessage } from "./interaction-views.ts";
import { findInteraction, findRunIdOrAny } from "./lookups.ts";
import type { HandlerParts } from "./parts.ts";
import { answerOnce, receiptMessage } from "./receipts.ts";
import { jsonOf } from "./values.ts";

export function interactionService(parts: HandlerParts): ServiceImpl<typeof InteractionService> {
  const { reader } = parts.host.store;
  return {
    getInteraction({ interactionId }) {
      const interaction = findInteraction(reader, interactionId);
      return create(GetInteractionResponseSchema, {
        interaction: interactionMessage(reader, interaction, "whole"),
      });
    },
    listInteractions: (request) => listInteractions(reader, request),
    answerCheckpoint: (request) => answerCheckpoint(parts, request),
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
  const result = await answerOnce(reader, asked, async () => {
    const interaction = findInteraction(reader, request.interactionId);
    await checkFits(reader, interaction, answerJson);
    const { interactionId } = interaction;
    return answer(host, asked, { interactionId, answerJson });
  });
  return create(AnswerCheckpointResponseSchema, {
    receipt: receiptMessage(result),
    ...presentInteraction(reader, request.interactionId),
  });
}

/** A repeat is answered also when the question was pruned since. */
function presentInteraction(reader: Reader, text: string): { readonly interaction?: Interaction } {
  try {
    const interaction = findInteraction(reader, text);
    return { interaction: interactionMessage(reader, interaction, "cut") };
  } catch (error) {
    if (error instanceof HostError) return {};
    throw error;
  }
}

/** Only an open question can be answered wrongly; of a closed one the caller is told that. */
async function checkFits(
  reader: Reader,
  { status, schema, runId }: InteractionRecord,
  answerJson: string,
): Promise<void> {
  if (status !== "pending" || schema === undefined) return;
  await checkAnswer(reader.values.read(schema), answerJson, { runId });
}
