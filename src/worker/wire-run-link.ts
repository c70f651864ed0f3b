import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SourceSchema } from "../gen/piworkflows/common/v1/source_pb.ts";
import { GrantKind } from "../gen/piworkflows/worker/v1/answers_pb.ts";
import type { Clock } from "../platform/clock.ts";
import { crashPoint } from "../platform/crash-points.ts";
import { identityOf } from "../platform/process-identity.ts";
import { ProposalRefused } from "./engine/run-link.ts";
import type { Ack, Place, RunLink } from "./engine/run-link.ts";
import type { FrameBody, HostStream, OrderBody } from "./host-link.ts";
import type { EffectGrant } from "./nodes/executor.ts";
import { attemptResult, wireFollow } from "./to-wire.ts";
import { wireInteraction } from "./wire-interaction.ts";

export interface RunLinkOptions {
  readonly stream: HostStream;
  readonly clock: Clock;
  /** Sources loaded since it was last asked. */
  readonly takeNewSources: () => MessageInitShape<typeof SourceSchema>[];
}

/** Updates of a node reach the host at most 20 times a second; the newest wins (protocol.md). */
const UPDATE_PERIOD_MS = 50;

/** Puts the engine's proposals on the stream. */
export function createRunLink({ stream, clock, takeNewSources }: RunLinkOptions): RunLink {
  const newSources = (): { newSources: MessageInitShape<typeof SourceSchema>[] } => ({
    newSources: takeNewSources(),
  });
  return {
    advance: (place, end, follow) => {
      const result = end === undefined ? {} : { result: attemptResult(end) };
      const value = { ...result, follow: wireFollow(follow), ...newSources() };
      return propose(stream, place, { case: "advance", value });
    },
    openInteraction: (place, request) => {
      const value = wireInteraction(request, takeNewSources());
      return propose(stream, place, { case: "interaction", value });
    },
    reject: (place, message) => {
      const value = { message, ...newSources() };
      return propose(stream, place, { case: "rejected", value });
    },
    openTimer: (place, dueAtMs, end) => {
      const result = end === undefined ? {} : { result: attemptResult(end) };
      const value = { dueAtMs: BigInt(Math.ceil(dueAtMs)), ...result, ...newSources() };
      return propose(stream, place, { case: "wait", value });
    },
    beginEffect: async (place, request) =>
      grantOf(request.key, await stream.ask({ case: "effectBegin", value: request }, place)),
    effectProcess: (place, effectId, pid) => {
      const startTime = identityOf(pid)?.startTime ?? "";
      stream.tell({ case: "effectProcess", value: { effectId, pid, startTime } }, place);
    },
    progress: updates(stream, clock),
  };
}

async function propose(stream: HostStream, place: Place, body: FrameBody): Promise<Ack> {
  const asked = stream.ask(body, place);
  crashPoint("proposal.after", body.case);
  const answer = await asked;
  if (answer.case === "refused") throw new ProposalRefused(answer.value.message);
  if (answer.case !== "ack") throw unexpected(answer);
  const { boundary, attemptId, attempt, visit, parked } = answer.value;
  return { boundary: Number(boundary), attemptId, attempt, visit, parked };
}

function grantOf(key: string, answer: OrderBody): EffectGrant {
  if (answer.case === "refused") throw new ProposalRefused(answer.value.message);
  if (answer.case !== "effect") throw unexpected(answer);
  const { effectId, kind, receiptJson } = answer.value;
  // A host that does not say what is allowed allows nothing.
  const grant = { effectId, key, kind: GRANTS[kind] ?? "blocked" };
  if (kind !== GrantKind.STORED) return grant;
  return { ...grant, receiptJson: Buffer.from(receiptJson).toString() };
}

const GRANTS: Partial<Record<GrantKind, EffectGrant["kind"]>> = {
  [GrantKind.APPLY]: "apply",
  [GrantKind.OBSERVE]: "observe",
  [GrantKind.STORED]: "stored",
  [GrantKind.BLOCKED]: "blocked",
};

function unexpected(answer: OrderBody): Error {
  return new Error(`the host answered a proposal with ${answer.case ?? "nothing"}`);
}

function updates(stream: HostStream, clock: Clock): (node: string, text: string) => void {
  const newest = new Map<string, string>();
  const flush = (): void => {
    for (const [node, text] of newest) stream.tell({ case: "progress", value: { node, text } });
    newest.clear();
  };
  return (node, text) => {
    if (newest.size === 0) clock.after(UPDATE_PERIOD_MS, flush);
    newest.set(node, text);
  };
}
