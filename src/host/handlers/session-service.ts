/** SessionService: one method per RPC. */
import { create, toBinary } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  AdoptRunRequestSchema,
  AdoptRunResponseSchema,
  AttachResponseSchema,
  ReportBranchResponseSchema,
  ReportTurnResponseSchema,
} from "../../gen/piworkflows/host/v1/session_service_pb.ts";
import type {
  AdoptRunRequest,
  AdoptRunResponse,
  AttachRequest,
  AttachResponse,
  ReportBranchRequest,
  ReportBranchResponse,
  ReportTurnRequest,
  ReportTurnResponse,
  SessionService,
} from "../../gen/piworkflows/host/v1/session_service_pb.ts";
import { HEARTBEAT_MS, SESSION_ROWS_MAX } from "../limits.ts";
import { adoptRun } from "../operations/adopt.ts";
import { reportBranch } from "../operations/branch.ts";
import { openTurn, settleTurn } from "../operations/turns.ts";
import { checkBytes, checkName, checkPath, invalid } from "./checks.ts";
import { identify } from "./fingerprint.ts";
import { findRunId } from "./lookups.ts";
import { viewSources } from "./parts.ts";
import type { HandlerParts } from "./parts.ts";
import { answerOnce, receiptMessage } from "./receipts.ts";
import { attachResponse } from "./session-views.ts";
import { turnEnding, turnOutcome } from "./turn-convert.ts";
import { watch } from "./watch.ts";

export function sessionService(parts: HandlerParts): ServiceImpl<typeof SessionService> {
  return {
    attach: (request, { signal }) => parts.streams.count(attach(parts, request, signal)),
    reportBranch: (request) => takeBranch(parts, request),
    reportTurn: (request) => takeTurn(parts, request),
    adoptRun: (request) => adopt(parts, request),
  };
}

async function* attach(
  parts: HandlerParts,
  request: AttachRequest,
  signal: AbortSignal,
): AsyncGenerator<AttachResponse> {
  const { sessions, capabilities } = parts;
  const attachment = await sessions.attach(attachFacts(request));
  // Nobody sits before the Pi of a headless run.
  const isPersonal = attachment.facts.headlessRun === undefined;
  const capability = isPersonal ? capabilities.issue() : "";
  const picture = (): AttachResponse =>
    attachResponse(viewSources(parts), { attachment, capability }, sessions.picture(attachment));
  let sent: Uint8Array = new Uint8Array();
  try {
    yield* watch(parts.host.clock, signal, {
      pollMs: HEARTBEAT_MS,
      subscribe(touch) {
        attachment.touch = touch;
        return () => {
          attachment.touch = () => undefined;
        };
      },
      look() {
        if (attachment.ended !== undefined) throw attachment.ended;
        const message = picture();
        const bytes = toBinary(AttachResponseSchema, message);
        if (Buffer.compare(bytes, sent) === 0) return { last: false };
        sent = bytes;
        return { message, last: false };
      },
      heartbeat: () => ({ ...picture(), heartbeat: true }),
    });
  } finally {
    capabilities.revoke(capability);
    sessions.detach(attachment);
  }
}

type AttachFacts = Parameters<HandlerParts["sessions"]["attach"]>[0];

function attachFacts(request: AttachRequest): AttachFacts {
  const { sessionFile, pid, takeOver } = request;
  return {
    sessionId: checkName("session_id", request.sessionId),
    cwd: checkPath("cwd", request.cwd),
    sessionFile: sessionFile === "" ? "" : checkPath("session_file", sessionFile),
    mode: checkName("mode", request.mode),
    secret: checkBytes("secret", request.secret),
    pid,
    takeOver,
  };
}

async function takeBranch(
  { host, sessions }: HandlerParts,
  request: ReportBranchRequest,
): Promise<ReportBranchResponse> {
  const { sessionId, messages, idle, written, turn } = request;
  if (messages.length > SESSION_ROWS_MAX) {
    throw invalid("messages", `has ${messages.length} entries; only what is asked for is wanted`);
  }
  const holder = sessions.hear(sessionId, request.attachmentId);
  const evidence = messages.map(({ messageId, entryId }) => ({
    messageId: checkBytes("messages.message_id", messageId),
    ...entryField(entryId),
  }));
  await reportBranch(host, {
    sessionId,
    idle,
    written,
    messages: evidence,
    ...(turn === undefined
      ? {}
      : {
          turn: { messageId: checkBytes("turn.message_id", turn.messageId), running: turn.running },
        }),
  });
  sessions.sawBranch(holder, evidence, written);
  return create(ReportBranchResponseSchema, {});
}

async function takeTurn(
  { host, sessions }: HandlerParts,
  request: ReportTurnRequest,
): Promise<ReportTurnResponse> {
  const { sessionId, replyText, replyWhole } = request;
  const report = {
    sessionId,
    messageId: checkName("message_id", request.messageId),
    ...entryField(request.entryId),
  };
  const outcome = turnOutcome(request.outcome);
  sessions.hear(sessionId, request.attachmentId);
  if (outcome === undefined) await openTurn(host, report);
  else {
    const error = turnEnding(outcome, request.error);
    await settleTurn(host, { ...report, outcome, replyText, replyWhole, ...error });
  }
  return create(ReportTurnResponseSchema, {});
}

async function adopt(
  { host, sessions }: HandlerParts,
  request: AdoptRunRequest,
): Promise<AdoptRunResponse> {
  const { reader } = host.store;
  const { sessionId, attachmentId } = request;
  // An attachment lasts as long as a stream; the wish is the same on the next one.
  const asked = identify(AdoptRunRequestSchema, { ...request, attachmentId: "" });
  const result = await answerOnce(reader, asked, () => {
    sessions.hear(sessionId, attachmentId);
    return adoptRun(host, asked, { runId: findRunId(reader, request.runId), sessionId });
  });
  return create(AdoptRunResponseSchema, { receipt: receiptMessage(result) });
}

function entryField(entryId: string): { readonly entryId?: string } {
  return entryId === "" ? {} : { entryId: checkBytes("entry_id", entryId) };
}
