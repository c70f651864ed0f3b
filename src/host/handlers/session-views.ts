/** The picture of a session as its attachments see it. */
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { AllowedToolsSchema } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { AllowedTools, HumanChoice } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import {
  MessageKind,
  MessageReason,
  SessionMessageSchema,
} from "../../gen/piworkflows/common/v1/session_pb.ts";
import type { SessionMessage } from "../../gen/piworkflows/common/v1/session_pb.ts";
import {
  AttachResponseSchema,
  SessionRunSchema,
  TurnAbortSchema,
} from "../../gen/piworkflows/host/v1/session_service_pb.ts";
import type {
  AttachResponse,
  SessionRun,
  TurnAbort,
} from "../../gen/piworkflows/host/v1/session_service_pb.ts";
import { contractOf } from "../operations/contract-of.ts";
import type { InteractionRecord, MessageRecord, TurnRecord } from "../records-sessions.ts";
import type { Attachment } from "../sessions/attachments.ts";
import type { RunLine, SessionPicture } from "../sessions/picture.ts";
import type { Reader } from "../store/tx.ts";
import { INTERACTION_KIND, RUN_STATUS, timestampField, timestampOf } from "./convert.ts";
import { choiceMessage } from "./interaction-views.ts";
import { runSummary } from "./run-summary.ts";
import type { ViewSources } from "./run-summary.ts";
import { cutText } from "./values.ts";

/** Whom the picture is for; the capability is nobody else's business. */
export interface Viewer {
  readonly attachment: Attachment;
  readonly capability: string;
}

export function attachResponse(
  sources: ViewSources,
  { attachment, capability }: Viewer,
  picture: SessionPicture,
): AttachResponse {
  const { id, holder, facts } = attachment;
  const { ended } = picture;
  return create(AttachResponseSchema, {
    coordinatorEpoch: BigInt(picture.coordinatorEpoch),
    attachmentId: id,
    holder,
    capability,
    // Only the holder acts for the session; a standby looks.
    ...(holder ? tasks(sources.reader, picture) : {}),
    runs: picture.runs.map((line) => sessionRun(sources, line)),
    ...(ended === undefined ? {} : { ended: sessionRun(sources, ended) }),
    ...timestampField("heldUntil", picture.heldUntil),
    headlessRunId: facts.headlessRun ?? "",
    openTurn: picture.openTurn ?? "",
  });
}

interface Tasks {
  readonly present?: SessionMessage;
  readonly abort?: TurnAbort;
  readonly openMessageIds: string[];
}

function tasks(reader: Reader, { present, abort, openMessageIds }: SessionPicture): Tasks {
  return {
    ...(present === undefined ? {} : { present: sessionMessage(reader, present) }),
    ...(abort === undefined ? {} : { abort: turnAbort(abort) }),
    openMessageIds: [...openMessageIds],
  };
}

function turnAbort({ messageId, abortReason = "" }: TurnRecord): TurnAbort {
  return create(TurnAbortSchema, { messageId, reason: abortReason });
}

function sessionRun(sources: ViewSources, { run, update, ...line }: RunLine): SessionRun {
  return create(SessionRunSchema, {
    ...line,
    summary: runSummary(sources, run),
    update: cutText(update),
  });
}

const MESSAGE_KIND: Readonly<Record<MessageRecord["kind"], MessageKind>> = {
  step: MessageKind.STEP,
  human_decision: MessageKind.HUMAN_DECISION,
  notification: MessageKind.NOTIFICATION,
  result: MessageKind.RESULT,
};

const MESSAGE_REASON: Readonly<Record<MessageRecord["reason"], MessageReason>> = {
  first: MessageReason.FIRST,
  reminder: MessageReason.REMINDER,
  resumed: MessageReason.RESUMED,
  rate_limit: MessageReason.RATE_LIMIT,
  model_error: MessageReason.MODEL_ERROR,
};

function sessionMessage(reader: Reader, message: MessageRecord): SessionMessage {
  const { interactionId = "", runId, kind } = message;
  const run = reader.runs.get(runId);
  const interaction = reader.interactions.get(interactionId);
  return create(SessionMessageSchema, {
    messageId: message.messageId,
    kind: MESSAGE_KIND[kind],
    reason: MESSAGE_REASON[message.reason],
    runId,
    runTitle: run?.title ?? "",
    workflow: run?.workflow ?? "",
    node: message.node,
    summary: message.summary,
    // Stored by the host as a JSON string.
    text: JSON.parse(reader.values.read(message.text)) as string,
    startsTurn: message.startsTurn,
    ...(interaction === undefined ? {} : requestFields(reader, interaction)),
    ...(kind === "result" && run !== undefined ? { runStatus: RUN_STATUS[run.status] } : {}),
    createdAt: timestampOf(message.createdAt),
  });
}

interface RequestFields {
  readonly interactionId: string;
  readonly interactionKind: SessionMessage["interactionKind"];
  readonly allowedTools?: AllowedTools;
  readonly choices: HumanChoice[];
  readonly deadlineAt?: Timestamp;
}

function requestFields(reader: Reader, interaction: InteractionRecord): RequestFields {
  const { interactionId, kind, deadlineAt } = interaction;
  const { allowedTools, choices = [] } = contractOf(reader, interaction);
  return {
    interactionId,
    interactionKind: INTERACTION_KIND[kind],
    choices: choices.map(choiceMessage),
    ...(allowedTools === undefined
      ? {}
      : { allowedTools: create(AllowedToolsSchema, { names: [...allowedTools] }) }),
    ...timestampField("deadlineAt", deadlineAt),
  };
}
