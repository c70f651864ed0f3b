/** An interaction as clients see it. */
import { create } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { InteractionSchema } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { Interaction } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { ValueRef } from "../records.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import type { Reader } from "../store/tx.ts";
import { INTERACTION_KIND, INTERACTION_STATUS, timestampField, timestampOf } from "./convert.ts";
import { readCutValue, readValue } from "./values.ts";

/** In a view values may be cut; alone an interaction is told whole. */
export function interactionMessage(
  reader: Reader,
  record: InteractionRecord,
  extent: "cut" | "whole",
): Interaction {
  const read = (ref: ValueRef): Value =>
    extent === "whole" ? readValue(reader.values, ref) : readCutValue(reader.values, ref).value;
  return create(InteractionSchema, {
    interactionId: record.interactionId,
    runId: record.runId,
    runTitle: reader.runs.get(record.runId)?.title ?? "",
    node: record.node,
    visit: record.visit,
    kind: INTERACTION_KIND[record.kind],
    status: INTERACTION_STATUS[record.status],
    summary: record.summary,
    ...(record.request === undefined ? {} : { request: read(record.request) }),
    ...(record.schema === undefined ? {} : { schema: read(record.schema) }),
    ...(record.answer === undefined ? {} : { answer: read(record.answer) }),
    answeredBy: record.answeredBy ?? "",
    createdAt: timestampOf(record.createdAt),
    ...timestampField("deadlineAt", record.deadlineAt),
    ...timestampField("closedAt", record.closedAt),
  });
}
