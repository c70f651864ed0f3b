/** EffectService: one method per RPC. */
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Effect } from "../../gen/piworkflows/common/v1/effect_pb.ts";
import {
  ListEffectsResponseSchema,
  Resolution,
  ResolveEffectRequestSchema,
  ResolveEffectResponseSchema,
} from "../../gen/piworkflows/host/v1/effect_service_pb.ts";
import type {
  EffectService,
  ListEffectsRequest,
  ListEffectsResponse,
  ResolveEffectRequest,
  ResolveEffectResponse,
} from "../../gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostError } from "../errors.ts";
import { PAGE_DEFAULT, PAGE_MAX } from "../limits.ts";
import { resolveEffect as resolve } from "../operations/effects.ts";
import type { ResolveRequest } from "../operations/effects.ts";
import type { Reader } from "../store/tx.ts";
import { checkBytes, invalid, pageSize } from "./checks.ts";
import { effectStatusNames } from "./convert.ts";
import { effectMessage } from "./effect-views.ts";
import { identify } from "./fingerprint.ts";
import { findEffect, findRunIdOrAny } from "./lookups.ts";
import type { HandlerParts } from "./parts.ts";
import { answerOnce, receiptMessage } from "./receipts.ts";
import { jsonOf } from "./values.ts";

export function effectService(parts: HandlerParts): ServiceImpl<typeof EffectService> {
  return {
    listEffects: (request) => listEffects(parts.host.store.reader, request),
    resolveEffect: (request) => resolveEffect(parts, request),
  };
}

function listEffects(reader: Reader, request: ListEffectsRequest): ListEffectsResponse {
  const limit = pageSize(request.pageSize, PAGE_DEFAULT, PAGE_MAX);
  const runId = findRunIdOrAny(reader, request.runId);
  const statuses = effectStatusNames(request.statuses);
  const before = checkBytes("page_token", request.pageToken);
  const found = reader.effects.page({
    limit: limit + 1,
    ...(runId === undefined ? {} : { runId }),
    ...(statuses === undefined ? {} : { statuses }),
    ...(before === "" ? {} : { before }),
  });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return create(ListEffectsResponseSchema, {
    effects: page.map((one) => effectMessage(reader, one)),
    nextPageToken: last?.effectId ?? "",
  });
}

async function resolveEffect(
  { host }: HandlerParts,
  request: ResolveEffectRequest,
): Promise<ResolveEffectResponse> {
  const { reader } = host.store;
  const asked = identify(ResolveEffectRequestSchema, request);
  const resolution = resolutionOf(request.resolution);
  const outputJson = jsonOf("output", request.output);
  const result = await answerOnce(reader, asked, () => {
    const { effectId } = findEffect(reader, request.effectId);
    return resolve(host, asked, { effectId, resolution, outputJson });
  });
  return create(ResolveEffectResponseSchema, {
    receipt: receiptMessage(result),
    ...presentEffect(reader, request.effectId),
  });
}

/** A repeat is answered also when the effect was pruned since. */
function presentEffect(reader: Reader, text: string): { readonly effect?: Effect } {
  try {
    return { effect: effectMessage(reader, findEffect(reader, text)) };
  } catch (error) {
    if (error instanceof HostError) return {};
    throw error;
  }
}

function resolutionOf(resolution: Resolution): ResolveRequest["resolution"] {
  switch (resolution) {
    case Resolution.APPLIED:
      return "applied";
    case Resolution.NOT_APPLIED:
      return "not_applied";
    case Resolution.RETRY:
      return "retry";
    default:
      throw invalid("resolution", "must say applied, not applied or retry");
  }
}
