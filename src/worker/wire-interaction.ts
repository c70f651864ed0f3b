import type { MessageInitShape } from "@bufbuild/protobuf";
import { InteractionKind } from "../gen/piworkflows/common/v1/interaction_pb.ts";
import type { SourceSchema } from "../gen/piworkflows/common/v1/source_pb.ts";
import type { OpenInteractionSchema } from "../gen/piworkflows/worker/v1/endings_pb.ts";
import type { LimitedRequest } from "./engine/run-link.ts";

type Wire = MessageInitShape<typeof OpenInteractionSchema>;
type Sources = MessageInitShape<typeof SourceSchema>[];

const KINDS = {
  agent: InteractionKind.AGENT,
  reply: InteractionKind.REPLY,
  checkpoint: InteractionKind.CHECKPOINT,
  human_decision: InteractionKind.HUMAN_DECISION,
} as const;

/** A request as a frame carries it; what its node did not state is left out. */
export function wireInteraction(request: LimitedRequest, newSources: Sources): Wire {
  const { kind, summary, requestJson, schemaJson = "", timeoutMs } = request;
  const { prompt = "", expectedOutput = "", replyCharsMax = 0, audience = "" } = request;
  const { choices = [] } = request;
  return {
    kind: KINDS[kind],
    summary,
    requestJson: Buffer.from(requestJson),
    schemaJson: Buffer.from(schemaJson),
    prompt,
    expectedOutput,
    replyCharsMax,
    audience,
    choices: choices.map(({ input, ...choice }) => ({
      ...choice,
      ...(input === undefined ? {} : { input: { ...input } }),
    })),
    ...(timeoutMs === undefined ? {} : { timeoutMs: BigInt(timeoutMs) }),
    ...wireOptions(request),
    newSources,
  };
}

function wireOptions({
  allowedTools,
  onTimeout,
  model,
}: LimitedRequest): Pick<Wire, "allowedTools" | "onTimeout" | "model"> {
  return {
    ...(allowedTools === undefined ? {} : { allowedTools: { names: [...allowedTools] } }),
    ...(onTimeout === undefined
      ? {}
      : {
          onTimeout: {
            afterMs: BigInt(onTimeout.afterMs),
            responseJson: Buffer.from(onTimeout.responseJson),
          },
        }),
    ...(model === undefined
      ? {}
      : {
          model: {
            provider: model.provider ?? "",
            model: model.model ?? "",
            args: [...(model.args ?? [])],
          },
        }),
  };
}
