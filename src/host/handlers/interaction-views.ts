/** An interaction as clients see it. */
import { create } from "@bufbuild/protobuf";
import type { Timestamp, Value } from "@bufbuild/protobuf/wkt";
import {
  AllowedToolsSchema,
  HumanChoiceSchema,
  InteractionSchema,
} from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type {
  AllowedTools,
  DeliveryState,
  HumanChoice,
  Interaction,
} from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import { HostError } from "../errors.ts";
import type { ValueRef } from "../records.ts";
import type { ChoiceRecord, InteractionContract, InteractionRecord } from "../records-sessions.ts";
import type { Reader } from "../store/tx.ts";
import { INTERACTION_KIND, INTERACTION_STATUS, timestampField, timestampOf } from "./convert.ts";
import { deliveryOf } from "./delivery.ts";
import { findInteraction } from "./lookups.ts";
import { cutText, readCutValue, readValue } from "./values.ts";

type Extent = "cut" | "whole";

/** In a view values may be cut; alone an interaction is told whole. */
export function interactionMessage(
  reader: Reader,
  record: InteractionRecord,
  extent: Extent,
): Interaction {
  const run = reader.runs.get(record.runId);
  return create(InteractionSchema, {
    interactionId: record.interactionId,
    runId: record.runId,
    runTitle: run?.title ?? "",
    node: record.node,
    visit: record.visit,
    kind: INTERACTION_KIND[record.kind],
    status: INTERACTION_STATUS[record.status],
    summary: record.summary,
    ...valueFields(reader, record, extent),
    ...contractFields(reader, record, extent),
    answeredBy: record.answeredBy ?? "",
    hasDefault: record.defaultAnswer !== undefined,
    lastError: record.lastError ?? "",
    reminders: record.reminders,
    sessionId: run?.mode === "session" ? (run.originSession ?? "") : "",
    ...deliveryFields(reader, record),
    createdAt: timestampOf(record.createdAt),
    ...timestampField("deadlineAt", record.deadlineAt),
    ...timestampField("closedAt", record.closedAt),
  });
}

function valueFields(
  reader: Reader,
  { request, schema, answer }: InteractionRecord,
  extent: Extent,
): { readonly request?: Value; readonly schema?: Value; readonly answer?: Value } {
  const read = (ref: ValueRef): Value =>
    extent === "whole" ? readValue(reader.values, ref) : readCutValue(reader.values, ref).value;
  return {
    ...(request === undefined ? {} : { request: read(request) }),
    ...(schema === undefined ? {} : { schema: read(schema) }),
    ...(answer === undefined ? {} : { answer: read(answer) }),
  };
}

type ContractFields = Pick<Interaction, "prompt" | "expectedOutput" | "choices" | "audience"> & {
  readonly allowedTools?: AllowedTools;
};

function contractFields(
  reader: Reader,
  { contract }: InteractionRecord,
  extent: Extent,
): ContractFields {
  if (contract === undefined) return { prompt: "", expectedOutput: "", choices: [], audience: "" };
  // Stored by the host itself, in this very shape.
  const stored = JSON.parse(reader.values.read(contract)) as InteractionContract;
  const { prompt = "", expectedOutput = "", allowedTools, choices = [], audience = "" } = stored;
  const text = (whole: string): string => (extent === "whole" ? whole : cutText(whole));
  return {
    prompt: text(prompt),
    expectedOutput: text(expectedOutput),
    ...(allowedTools === undefined
      ? {}
      : { allowedTools: create(AllowedToolsSchema, { names: [...allowedTools] }) }),
    choices: choices.map(choiceMessage),
    audience,
  };
}

export function choiceMessage({ id, label, input }: ChoiceRecord): HumanChoice {
  return create(HumanChoiceSchema, { id, label, ...(input === undefined ? {} : { input }) });
}

function deliveryFields(
  reader: Reader,
  record: InteractionRecord,
): { readonly delivery: DeliveryState; readonly heldUntil?: Timestamp } {
  const { state, heldUntil } = deliveryOf(reader, record);
  return { delivery: state, ...timestampField("heldUntil", heldUntil) };
}

/** A repeat is answered also when the question was pruned since. */
export function presentInteraction(
  reader: Reader,
  text: string,
): { readonly interaction?: Interaction } {
  try {
    const interaction = findInteraction(reader, text);
    return { interaction: interactionMessage(reader, interaction, "cut") };
  } catch (error) {
    if (error instanceof HostError) return {};
    throw error;
  }
}
