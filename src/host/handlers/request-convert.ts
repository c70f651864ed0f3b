/** What a worker wants somebody to answer, as a record. */
import { InteractionKind } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { HumanChoice, ModelChoice } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { OpenInteraction } from "../../gen/piworkflows/worker/v1/endings_pb.ts";
import type { Proposal } from "../operations/boundary.ts";
import type { InteractionRequest } from "../operations/parking.ts";
import type {
  ChoiceRecord,
  InteractionKind as InteractionKindName,
  ModelRecord,
} from "../records-sessions.ts";
import { MalformedFrame, jsonText, optionalMs, safeNumber } from "./worker-convert.ts";

/** The request itself; which attempt asks is said by the frame around it. */
export function interactionRequest(
  request: OpenInteraction,
): Omit<InteractionRequest, keyof Proposal> {
  const { summary, requestJson, schemaJson, timeoutMs, onTimeout } = request;
  const kind = KINDS.get(request.kind);
  if (kind === undefined) throw new MalformedFrame("a request is of no known kind");
  return {
    kind,
    summary,
    ...(requestJson.length === 0 ? {} : { requestJson: jsonText("the request", requestJson) }),
    ...(schemaJson.length === 0 ? {} : { schemaJson: jsonText("the schema", schemaJson) }),
    ...optionalMs(timeoutMs),
    ...contractParts(request),
    ...(onTimeout === undefined
      ? {}
      : {
          onTimeout: {
            afterMs: safeNumber("the default's time", onTimeout.afterMs),
            responseJson: jsonText("the default", onTimeout.responseJson),
          },
        }),
  };
}

const KINDS: ReadonlyMap<InteractionKind, InteractionKindName> = new Map([
  [InteractionKind.AGENT, "agent"],
  [InteractionKind.REPLY, "reply"],
  [InteractionKind.CHECKPOINT, "checkpoint"],
  [InteractionKind.HUMAN_DECISION, "human_decision"],
]);

type Parts = Pick<
  InteractionRequest,
  "prompt" | "expectedOutput" | "allowedTools" | "replyCharsMax" | "audience" | "choices" | "model"
>;

/** Empty is how the wire says absent. */
function contractParts(request: OpenInteraction): Parts {
  const { prompt, expectedOutput, allowedTools, replyCharsMax, audience, choices } = request;
  return {
    ...(prompt === "" ? {} : { prompt }),
    ...(expectedOutput === "" ? {} : { expectedOutput }),
    ...(allowedTools === undefined ? {} : { allowedTools: allowedTools.names }),
    ...(replyCharsMax === 0 ? {} : { replyCharsMax }),
    ...(audience === "" ? {} : { audience }),
    ...(choices.length === 0 ? {} : { choices: choices.map(choiceRecord) }),
    ...(request.model === undefined ? {} : { model: modelRecord(request.model) }),
  };
}

function choiceRecord({ id, label, input }: HumanChoice): ChoiceRecord {
  if (input === undefined) return { id, label };
  const { name, prompt, minLength, maxLength } = input;
  return { id, label, input: { name, prompt, minLength, maxLength } };
}

function modelRecord({ provider, model, args }: ModelChoice): ModelRecord {
  return { provider, model, args };
}
