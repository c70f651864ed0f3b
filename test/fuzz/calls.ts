/** One call of each kind, as real clients make them, in every protocol that the socket speaks. */
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import type { Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { jsonValue } from "../../src/client/json-value.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { TurnOutcome } from "../../src/gen/piworkflows/common/v1/session_pb.ts";
import { ValueKind } from "../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import { Resolution } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { CANARY, clientsOf } from "./target.ts";
import type { Clients, Target } from "./target.ts";

export type Protocol = "connect" | "json" | "grpc" | "grpc-web";
export const PROTOCOLS: readonly Protocol[] = ["connect", "json", "grpc", "grpc-web"];

/** What the calls are about. */
export interface Facts {
  readonly ended: string;
  readonly waiting: string;
  readonly checkpoint: string;
  readonly step: string;
  readonly backup: string;
}

const SESSION = "fuzzed-session";
const PROJECT = "/";

/** Runs in the states that calls ask about. */
export async function prepare({ clean, folder }: Target): Promise<Facts> {
  const ended = await begin(clean, "tours");
  const question = await untilWaiting(clean, ended);
  await clean.interactions.answerCheckpoint({
    command: command(),
    interactionId: question,
    answer: jsonValue("yes"),
  });
  await until(clean, ended, RunStatus.COMPLETED);
  const waiting = await begin(clean, "tours");
  const checkpoint = await untilWaiting(clean, waiting);
  await attach(clean);
  const talking = await begin(clean, "confers", SESSION);
  const step = await untilWaiting(clean, talking);
  return { ended, waiting, checkpoint, step, backup: `${folder}/copy.db` };
}

type Ask = (clients: Clients, facts: Facts) => Promise<unknown>;

export const ASKS: Readonly<Record<string, Ask>> = {
  getStatus: ({ host }) => host.getStatus({}),
  diagnose: ({ host }, { ended: runId }) => host.diagnose({ runId }),
  repair: ({ host }) => host.repair({ command: command(), dryRun: true }),
  backup: ({ host }, { backup: path }) => host.backup({ path }),
  prune: ({ host }) => host.prune({ command: command(), dryRun: true, olderThan: { seconds: 9n } }),
  startRun: async ({ runs }) => runs.startRun(startRequest("tours")),
  validate: ({ runs }) => runs.validateWorkflow({ workflow: "tours", projectDir: PROJECT }),
  getRun: ({ runs }, { ended: runId }) => runs.getRun({ runId }),
  getValue: ({ runs }, { ended: runId }) =>
    runs.getRunValue({ runId, kind: ValueKind.OUTPUT, node: "ask" }),
  listRuns: ({ runs }) =>
    runs.listRuns({ statuses: [RunStatus.WAITING], workflow: "tours", pageSize: 2 }),
  watchRun: ({ runs }, { ended: runId }) => first(runs.watchRun({ runId })),
  watchRuns: ({ runs }) => first(runs.watchRuns({ cursor: { storeId: "s", position: 1n } })),
  listEvents: ({ runs }, { ended: runId }) =>
    runs.listEvents({ runId, afterRevision: 1n, pageSize: 3 }),
  readLog: ({ runs }, { ended: runId }) => first(runs.readRunLog({ runId, tailBytes: 9n })),
  pause: ({ runs }, { ended: runId }) => runs.pauseRun({ command: command(), runId }),
  resume: ({ runs }, { waiting: runId }) => runs.resumeRun({ command: command(), runId }),
  cancel: ({ runs }, { ended: runId }) =>
    runs.cancelRun({ command: command(), runId, note: CANARY }),
  restart: ({ runs }, { ended: runId }) => runs.restartRun({ command: command(3n), runId }),
  interactions: ({ interactions }, { waiting: runId }) =>
    interactions.listInteractions({ runId, pageSize: 2 }),
  interaction: ({ interactions }, { checkpoint: interactionId }) =>
    interactions.getInteraction({ interactionId }),
  submit: ({ interactions }, { step: interactionId }) =>
    interactions.submitResult({
      command: command(),
      interactionId,
      value: jsonValue(CANARY),
      sessionId: SESSION,
    }),
  update: ({ interactions }, { step: interactionId }) =>
    interactions.publishUpdate({ interactionId, text: CANARY, sessionId: SESSION }),
  answer: ({ interactions }, { checkpoint: interactionId }) =>
    interactions.answerCheckpoint({
      command: command(),
      interactionId,
      answer: jsonValue({ [CANARY]: 1 }),
    }),
  decide: ({ interactions }, { step: interactionId }) =>
    interactions.answerDecision({
      command: command(),
      interactionId,
      choice: "yes",
      text: CANARY,
      capability: "none",
    }),
  effects: ({ effects }, { ended: runId }) => effects.listEffects({ runId, pageSize: 1 }),
  resolve: ({ effects }, { ended: effectId }) =>
    effects.resolveEffect({
      command: command(),
      effectId,
      resolution: Resolution.APPLIED,
      output: jsonValue(CANARY),
    }),
  attach,
  branch: ({ sessions }) =>
    sessions.reportBranch({
      sessionId: SESSION,
      attachmentId: "none",
      messages: [{ messageId: "m", entryId: "e" }],
      leafId: "l",
      idle: true,
    }),
  turn: ({ sessions }) =>
    sessions.reportTurn({
      sessionId: SESSION,
      attachmentId: "none",
      messageId: "m",
      outcome: TurnOutcome.COMPLETED,
      replyText: CANARY,
    }),
  adopt: ({ sessions }, { waiting: runId }) =>
    sessions.adoptRun({ command: command(), runId, sessionId: SESSION, attachmentId: "none" }),
};

/** One client with a connection of its own, which ends with the call. What is refused is a call too. */
export async function ask(
  name: string,
  how: { readonly protocol: Protocol; readonly facts: Facts; readonly socketPath: string },
): Promise<void> {
  const { protocol, facts, socketPath } = how;
  const sessionManager = new Http2SessionManager(
    AUTHORITY,
    {},
    { createConnection: () => connect(socketPath) },
  );
  try {
    await ASKS[name]?.(clientsOf(transportOf(protocol, sessionManager)), facts);
  } catch {
    // A refusal is an answer.
  } finally {
    sessionManager.abort();
  }
}

const AUTHORITY = "http://localhost";

function transportOf(protocol: Protocol, sessionManager: Http2SessionManager): Transport {
  const options = { baseUrl: AUTHORITY, httpVersion: "2" as const, sessionManager };
  if (protocol === "grpc") return createGrpcTransport(options);
  if (protocol === "grpc-web") return createGrpcWebTransport(options);
  return createConnectTransport({ ...options, useBinaryFormat: protocol === "connect" });
}

function command(expectedRevision?: bigint): {
  readonly requestId: string;
  readonly client: string;
  readonly expectedRevision?: bigint;
} {
  const own = { requestId: randomUUID(), client: "fuzz" };
  return expectedRevision === undefined ? own : { ...own, expectedRevision };
}

function startRequest(workflow: string, originSession = "") {
  const input = jsonValue({ [CANARY]: [1, "a", null, true, { deep: {} }] });
  return {
    command: command(),
    workflow,
    projectDir: PROJECT,
    input,
    originSession,
    allowDuplicate: true,
  };
}

async function begin({ runs }: Clients, workflow: string, session = ""): Promise<string> {
  const { receipt } = await runs.startRun(startRequest(workflow, session));
  return receipt?.runId ?? "";
}

async function untilWaiting(clean: Clients, runId: string): Promise<string> {
  for await (const { run } of clean.runs.watchRun({ runId })) {
    if (run?.interaction !== undefined) return run.interaction.interactionId;
  }
  throw new Error("a run ended that should have asked");
}

async function until({ runs }: Clients, runId: string, status: RunStatus): Promise<void> {
  for await (const { run } of runs.watchRun({ runId })) if (run?.summary?.status === status) return;
}

function attach({ sessions }: Clients): Promise<unknown> {
  const place = { sessionId: SESSION, cwd: PROJECT, sessionFile: "/none" };
  return first(sessions.attach({ ...place, mode: "rpc", pid: 1, secret: "none" }));
}

async function first<T>(stream: AsyncIterable<T>): Promise<T | undefined> {
  for await (const message of stream) return message;
  return undefined;
}
