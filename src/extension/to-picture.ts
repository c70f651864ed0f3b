/** From the wire's picture to the bridge's. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { InteractionKind } from "../gen/piworkflows/common/v1/interaction_pb.ts";
import { RunStatus } from "../gen/piworkflows/common/v1/run_pb.ts";
import { MessageKind, MessageReason } from "../gen/piworkflows/common/v1/session_pb.ts";
import type { SessionMessage } from "../gen/piworkflows/common/v1/session_pb.ts";
import type { AttachResponse } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import type { MessageDetails } from "./message-details.ts";
import type { Picture, Present } from "./picture.ts";

const KINDS: Readonly<Record<number, MessageDetails["kind"]>> = {
  [MessageKind.STEP]: "step",
  [MessageKind.HUMAN_DECISION]: "human_decision",
  [MessageKind.NOTIFICATION]: "notification",
  [MessageKind.RESULT]: "result",
};

const REASONS: Readonly<Record<number, MessageDetails["reason"]>> = {
  [MessageReason.FIRST]: "first",
  [MessageReason.REMINDER]: "reminder",
  [MessageReason.RESUMED]: "resumed",
  [MessageReason.RATE_LIMIT]: "rate_limit",
  [MessageReason.MODEL_ERROR]: "model_error",
};

const INTERACTION_KINDS: Readonly<Record<number, MessageDetails["interactionKind"]>> = {
  [InteractionKind.AGENT]: "agent",
  [InteractionKind.REPLY]: "reply",
  [InteractionKind.CHECKPOINT]: "checkpoint",
  [InteractionKind.HUMAN_DECISION]: "human_decision",
};

const STATUSES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(RunStatus)
    .filter(([, value]) => value !== RunStatus.UNSPECIFIED)
    .map(([name, value]) => [value, name.toLowerCase()]),
);

export function toPicture(response: AttachResponse, sessionId: string): Picture {
  const { present, abort } = response;
  return {
    attachmentId: response.attachmentId,
    holder: response.holder,
    present: present === undefined ? undefined : toPresent(present, sessionId),
    abort: abort?.messageId,
    openMessageIds: response.openMessageIds,
    openTurn: response.openTurn === "" ? undefined : response.openTurn,
  };
}

function toPresent(message: SessionMessage, sessionId: string): Present | undefined {
  const kind = KINDS[message.kind];
  // Of a host that knows more kinds than this package: nothing that could be shown right.
  if (kind === undefined) return undefined;
  return {
    messageId: message.messageId,
    text: message.text,
    startsTurn: message.startsTurn,
    allowedTools: message.allowedTools?.names,
    details: {
      id: message.messageId,
      sessionId,
      kind,
      reason: REASONS[message.reason] ?? "first",
      runId: message.runId,
      runTitle: message.runTitle,
      workflow: message.workflow,
      interactionId: message.interactionId,
      interactionKind: INTERACTION_KINDS[message.interactionKind] ?? "",
      node: message.node,
      summary: message.summary,
      choices: message.choices.map(({ id, label }) => ({ id, label })),
      deadlineAt: message.deadlineAt === undefined ? "" : isoTime(message.deadlineAt),
      runStatus: STATUSES[message.runStatus] ?? "",
    },
  };
}

function isoTime(timestamp: Parameters<typeof timestampDate>[0]): string {
  return timestampDate(timestamp).toISOString();
}
