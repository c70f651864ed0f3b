/** An effect as clients see it. */
import { create } from "@bufbuild/protobuf";
import { EffectSchema } from "../../gen/piworkflows/common/v1/effect_pb.ts";
import type { Effect } from "../../gen/piworkflows/common/v1/effect_pb.ts";
import type { EffectRecord } from "../records.ts";
import type { Reader } from "../store/tx.ts";
import { EFFECT_STATUS, timestampOf } from "./convert.ts";
import { cutText, readCutValue } from "./values.ts";

export function effectMessage(reader: Reader, record: EffectRecord): Effect {
  const { receipt } = record;
  return create(EffectSchema, {
    effectId: record.effectId,
    runId: record.runId,
    node: record.node,
    visit: record.visit,
    type: record.type,
    policy: record.policy,
    key: record.key,
    status: EFFECT_STATUS[record.status],
    applications: reader.effects.applications(record.effectId),
    ...(receipt === undefined ? {} : { receipt: readCutValue(reader.values, receipt).value }),
    detail: cutText(record.detail ?? ""),
    createdAt: timestampOf(record.createdAt),
    updatedAt: timestampOf(record.updatedAt),
  });
}
