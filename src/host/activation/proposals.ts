/** A worker's proposals: what each asks of the operations, and how the answer reads. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { AttemptOutcome } from "../../gen/piworkflows/worker/v1/endings_pb.ts";
import { GrantKind } from "../../gen/piworkflows/worker/v1/answers_pb.ts";
import type {
  WorkRequest,
  WorkResponseSchema,
} from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { HostContext } from "../context.ts";
import { effectPolicy } from "../handlers/graph-convert.ts";
import { interactionRequest } from "../handlers/request-convert.ts";
import { attemptResult, followOf } from "../handlers/result-convert.ts";
import {
  MalformedFrame,
  jsonBytes,
  nameText,
  optionalMs,
  proofOf,
  safeNumber,
  sourceWithContent,
} from "../handlers/worker-convert.ts";
import type { BeginRecord } from "../operations/attach.ts";
import { advance, attachWorker, openInteraction, openTimer } from "../operations/attempts.ts";
import { VALIDATION_MS } from "../limits.ts";
import type { AckRecord, NextStep } from "../operations/boundary.ts";
import { beginEffect } from "../operations/effects.ts";
import type { GrantRecord } from "../operations/effects.ts";
import { refuseSubmission } from "../operations/submissions.ts";
import type { ActivationKind, ClaimProof } from "../records.ts";
import { beginMessage, openedBy } from "./beginning.ts";
import type { OpenAttempt } from "./beginning.ts";

/** A committed proposal: what the worker is told, and what follows for the activation. */
export interface Committed {
  readonly body: NonNullable<MessageInitShape<typeof WorkResponseSchema>["body"]>;
  /** The run is no longer this worker's: it must exit. */
  readonly parked: boolean;
  /** Present when another attempt is executed from now on. */
  readonly opened?: OpenAttempt;
}

/** One proposal, checked as far as that needs no row. */
export interface Proposal {
  readonly kind: ProposalKind;
  /** One transaction; a repeat of the same frame gets the stored answer. */
  commit(): Promise<Committed>;
}

export type ProposalKind =
  | "ready"
  | "advance"
  | "interaction"
  | "rejected"
  | "wait"
  | "effectBegin";

/** Throws REQUEST_INVALID for what no worker of ours sends, LIMIT_EXCEEDED for what is too large. */
export function proposalOf(host: HostContext, tokenHash: string, frame: WorkRequest): Proposal {
  const asked = {
    host,
    frame,
    proof: proofOf(frame, tokenHash),
    number: safeNumber("the number", frame.number),
    boundary: safeNumber("the boundary", frame.expectedBoundary),
  };
  switch (frame.body.case) {
    case "ready":
      return readyProposal(asked, frame.body.value);
    case "advance":
      return advanceProposal(asked, frame.body.value);
    case "interaction":
      return interactionProposal(asked, frame.body.value);
    case "rejected":
      return rejectedProposal(asked, frame.body.value);
    case "wait":
      return waitProposal(asked, frame.body.value);
    case "effectBegin":
      return effectProposal(asked, frame.body.value);
    default:
      throw new MalformedFrame(`${frame.body.case ?? "an empty frame"} is no proposal`);
  }
}

interface Asked {
  readonly host: HostContext;
  readonly frame: WorkRequest;
  readonly proof: ClaimProof;
  readonly number: number;
  readonly boundary: number;
}

type Body<Case extends ProposalKind> = Extract<WorkRequest["body"], { case: Case }>["value"];

function readyProposal({ host, proof, number }: Asked, ready: Body<"ready">): Proposal {
  const timeout = optionalMs(ready.timeoutMs);
  const newSources = ready.newSources.map(sourceWithContent);
  return {
    kind: "ready",
    commit: async () =>
      begun(await attachWorker(host, proof, number, { ...timeout, newSources }), timeout),
  };
}

function begun(begin: BeginRecord, timeout: { readonly timeoutMs?: number }): Committed {
  return {
    body: { case: "begin", value: beginMessage(begin) },
    parked: false,
    opened: openedBy(begin, limitOf(begin.kind, timeout)),
  };
}

/** How long the worker may be at it: the node's own limit, or that of a validation. */
function limitOf(
  kind: ActivationKind,
  timeout: { readonly timeoutMs?: number },
): { readonly timeoutMs?: number } {
  if (kind === "validate") return { timeoutMs: VALIDATION_MS };
  return kind === "start" || kind === "continue" ? timeout : {};
}

function advanceProposal(asked: Asked, { result, follow, newSources }: Body<"advance">): Proposal {
  const { host, frame, proof, number, boundary } = asked;
  const next = followOf(follow) ?? undecided(result);
  const change = {
    expectedBoundary: boundary,
    attemptId: nameText("the attempt", frame.attemptId),
    ...(result === undefined ? {} : { result: attemptResult(result) }),
    follow: next,
    newSources: newSources.map(sourceWithContent),
  };
  return {
    kind: "advance",
    commit: async () => {
      const ack = await advance(host, proof, number, change);
      const opened = next.kind === "next" ? { node: next.node, ...timeoutOf(next) } : undefined;
      return acknowledged(ack, opened);
    },
  };
}

/** After an unknown outcome the host decides what follows; what stands here is not looked at. */
function undecided(result: Body<"advance">["result"]): NextStep {
  if (result?.outcome === AttemptOutcome.UNKNOWN) return { kind: "next", node: "", retry: false };
  throw new MalformedFrame("it names nothing that follows");
}

function timeoutOf(next: { readonly timeoutMs?: number }): { readonly timeoutMs?: number } {
  return next.timeoutMs === undefined ? {} : { timeoutMs: next.timeoutMs };
}

function interactionProposal(asked: Asked, request: Body<"interaction">): Proposal {
  const { host, frame, proof, number, boundary } = asked;
  const change = {
    expectedBoundary: boundary,
    attemptId: nameText("the attempt", frame.attemptId),
    ...interactionRequest(request),
    newSources: request.newSources.map(sourceWithContent),
  };
  return {
    kind: "interaction",
    commit: async () => acknowledged(await openInteraction(host, proof, number, change)),
  };
}

function rejectedProposal(asked: Asked, { message, newSources }: Body<"rejected">): Proposal {
  const { host, frame, proof, number, boundary } = asked;
  const refusal = {
    expectedBoundary: boundary,
    attemptId: nameText("the attempt", frame.attemptId),
    error: message,
    newSources: newSources.map(sourceWithContent),
  };
  return {
    kind: "rejected",
    commit: async () => acknowledged(await refuseSubmission(host, proof, number, refusal)),
  };
}

function waitProposal(asked: Asked, { dueAtMs, result, newSources }: Body<"wait">): Proposal {
  const { host, frame, proof, number, boundary } = asked;
  const change = {
    expectedBoundary: boundary,
    attemptId: nameText("the attempt", frame.attemptId),
    dueAt: safeNumber("the due time", dueAtMs),
    ...(result === undefined ? {} : { result: attemptResult(result) }),
    newSources: newSources.map(sourceWithContent),
  };
  return {
    kind: "wait",
    commit: async () => acknowledged(await openTimer(host, proof, number, change)),
  };
}

function effectProposal(asked: Asked, begin: Body<"effectBegin">): Proposal {
  const { host, frame, proof, number, boundary } = asked;
  const change = {
    expectedBoundary: boundary,
    attemptId: nameText("the attempt", frame.attemptId),
    key: nameText("the key", begin.key),
    fingerprint: nameText("the fingerprint", begin.fingerprint),
    type: nameText("the effect's type", begin.type),
    policy: effectPolicy(begin.policy),
    observable: begin.observable,
  };
  return {
    kind: "effectBegin",
    commit: async () => granted(await beginEffect(host, proof, number, change)),
  };
}

function acknowledged(
  ack: AckRecord,
  opened?: { readonly node: string; readonly timeoutMs?: number },
): Committed {
  const { attemptId } = ack;
  const value = {
    boundary: BigInt(ack.boundary),
    attemptId: attemptId ?? "",
    attempt: ack.attempt ?? 0,
    visit: ack.visit ?? 0,
    parked: ack.parked,
  };
  return {
    body: { case: "ack", value },
    parked: ack.parked,
    ...(opened === undefined || attemptId === undefined
      ? {}
      : { opened: { attemptId, ...opened } }),
  };
}

function granted(grant: GrantRecord): Committed {
  const value = {
    effectId: grant.effectId,
    kind: GRANTS[grant.kind],
    ...(grant.receiptJson === undefined ? {} : { receiptJson: jsonBytes(grant.receiptJson) }),
  };
  return { body: { case: "effect", value }, parked: grant.kind === "blocked" };
}

const GRANTS: Readonly<Record<GrantRecord["kind"], GrantKind>> = {
  apply: GrantKind.APPLY,
  observe: GrantKind.OBSERVE,
  stored: GrantKind.STORED,
  blocked: GrantKind.BLOCKED,
};
