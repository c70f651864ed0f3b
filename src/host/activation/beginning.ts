/** What an activation begins with, for the worker and for the host's own watch over it. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ActivationKind as WireKind } from "../../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import type { BeginSchema } from "../../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import type { BeginRecord } from "../operations/attach.ts";
import type { ActivationKind } from "../records.ts";

/** The attempt that is open after a commit. */
export interface OpenAttempt {
  readonly attemptId: string;
  readonly node: string;
  /** Absent means that it may take for ever. */
  readonly timeoutMs?: number;
}

export function beginMessage(begin: BeginRecord): MessageInitShape<typeof BeginSchema> {
  return {
    kind: WIRE_KINDS[begin.kind],
    attemptId: begin.attemptId,
    attempt: begin.attempt,
    boundary: BigInt(begin.boundary),
    countedAttempts: begin.countedAttempts,
  };
}

export function openedBy(
  { attemptId, node }: BeginRecord,
  limit: { readonly timeoutMs?: number },
): OpenAttempt {
  return { attemptId, node, ...limit };
}

const WIRE_KINDS: Readonly<Record<ActivationKind, WireKind>> = {
  start: WireKind.START,
  continue: WireKind.CONTINUE,
  answered: WireKind.ANSWERED,
  expired: WireKind.EXPIRED,
  verdict: WireKind.VERDICT,
  validate: WireKind.VALIDATE,
};
