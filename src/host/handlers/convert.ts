/** The words of the records and the numbers of the wire, in both directions. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { AttemptStatus } from "../../gen/piworkflows/common/v1/attempt_pb.ts";
import { EffectStatus } from "../../gen/piworkflows/common/v1/effect_pb.ts";
import {
  InteractionKind,
  InteractionStatus,
} from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import { BlockReason, RunStatus } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { AttemptStatus as AttemptStatusName } from "../lifecycle/attempt.ts";
import type { EffectStatus as EffectStatusName } from "../lifecycle/effect.ts";
import type { InteractionStatus as InteractionStatusName } from "../lifecycle/interaction.ts";
import type {
  BlockReason as BlockReasonName,
  RunStatus as RunStatusName,
} from "../lifecycle/run.ts";
import type { Instant } from "../records.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import { invalid } from "./checks.ts";

export const RUN_STATUS: Readonly<Record<RunStatusName, RunStatus>> = {
  queued: RunStatus.QUEUED,
  starting: RunStatus.STARTING,
  running: RunStatus.RUNNING,
  waiting: RunStatus.WAITING,
  paused: RunStatus.PAUSED,
  blocked: RunStatus.BLOCKED,
  completed: RunStatus.COMPLETED,
  failed: RunStatus.FAILED,
  timed_out: RunStatus.TIMED_OUT,
  cancelled: RunStatus.CANCELLED,
};

export const BLOCK_REASON: Readonly<Record<BlockReasonName, BlockReason>> = {
  source_changed: BlockReason.SOURCE_CHANGED,
  effect_ambiguous: BlockReason.EFFECT_AMBIGUOUS,
  effect_conflict: BlockReason.EFFECT_CONFLICT,
  no_progress: BlockReason.NO_PROGRESS,
};

export const ATTEMPT_STATUS: Readonly<Record<AttemptStatusName, AttemptStatus>> = {
  running: AttemptStatus.RUNNING,
  waiting: AttemptStatus.WAITING,
  ok: AttemptStatus.OK,
  failed: AttemptStatus.FAILED,
  timed_out: AttemptStatus.TIMED_OUT,
  interrupted: AttemptStatus.INTERRUPTED,
  cancelled: AttemptStatus.CANCELLED,
};

export const EFFECT_STATUS: Readonly<Record<EffectStatusName, EffectStatus>> = {
  pending: EffectStatus.PENDING,
  applying: EffectStatus.APPLYING,
  applied: EffectStatus.APPLIED,
  rejected: EffectStatus.REJECTED,
  cancelled: EffectStatus.CANCELLED,
  ambiguous: EffectStatus.AMBIGUOUS,
};

export const INTERACTION_STATUS: Readonly<Record<InteractionStatusName, InteractionStatus>> = {
  pending: InteractionStatus.PENDING,
  validating: InteractionStatus.VALIDATING,
  accepted: InteractionStatus.ACCEPTED,
  expired: InteractionStatus.EXPIRED,
  cancelled: InteractionStatus.CANCELLED,
};

export const INTERACTION_KIND: Readonly<Record<InteractionRecord["kind"], InteractionKind>> = {
  agent: InteractionKind.AGENT,
  reply: InteractionKind.REPLY,
  checkpoint: InteractionKind.CHECKPOINT,
  human_decision: InteractionKind.HUMAN_DECISION,
};

const RUN_STATUS_NAMES = reversed(RUN_STATUS);
const EFFECT_STATUS_NAMES = reversed(EFFECT_STATUS);

/** Statuses of a filter; absent when the filter lets everything through. */
export function runStatusNames(
  statuses: readonly RunStatus[],
): readonly RunStatusName[] | undefined {
  return statuses.length === 0 ? undefined : statuses.map((one) => nameOf(RUN_STATUS_NAMES, one));
}

export function effectStatusNames(
  statuses: readonly EffectStatus[],
): readonly EffectStatusName[] | undefined {
  if (statuses.length === 0) return undefined;
  return statuses.map((one) => nameOf(EFFECT_STATUS_NAMES, one));
}

export function timestampOf(instant: Instant): Timestamp {
  return timestampFromMs(instant);
}

/** A timestamp field that stays absent when there is no instant. */
export function timestampField<Name extends string>(
  name: Name,
  instant: Instant | undefined,
): { readonly [Key in Name]?: Timestamp } {
  // The computed key is exactly `Name`, which the checker cannot follow.
  return (instant === undefined ? {} : { [name]: timestampFromMs(instant) }) as {
    readonly [Key in Name]?: Timestamp;
  };
}

function reversed<Name extends string>(
  table: Readonly<Record<Name, number>>,
): ReadonlyMap<number, Name> {
  // The keys of a table typed by its names are exactly these.
  return new Map((Object.entries(table) as [Name, number][]).map(([name, value]) => [value, name]));
}

function nameOf<Name>(names: ReadonlyMap<number, Name>, value: number): Name {
  const name = names.get(value);
  if (name === undefined) throw invalid("statuses", `holds ${value}, which is no status`);
  return name;
}
