import type {
  AttemptRecord,
  ClaimRecord,
  CommandRecord,
  EffectRecord,
  EventRecord,
  GraphRecord,
  RunRecord,
  TimerRecord,
  WorkerRecord,
} from "../../src/host/records.ts";
import type { InteractionRecord } from "../../src/host/records-sessions.ts";
import type { Tx } from "../../src/host/store/tx.ts";
import { newId, sha256Hex } from "../../src/platform/ids.ts";

export const GRAPH: GraphRecord = {
  name: "notes",
  startAt: "draft",
  maxSteps: 100,
  nodes: [
    { path: "draft", kind: "compute" },
    { path: "ship", kind: "compute" },
  ],
  edges: [{ from: "draft", to: "ship" }],
};

export const TOKEN_HASH = sha256Hex("token");

export function runRecord(change: Partial<RunRecord> = {}): RunRecord {
  return {
    runId: newId("run"),
    position: 1,
    workflow: "notes",
    title: "Notes",
    workflowPath: "/project/notes.workflow.ts",
    projectDir: "/project",
    status: "queued",
    pauseRequested: false,
    revision: 1,
    boundary: 0,
    generation: 0,
    priority: 0,
    availableAt: 0,
    node: "draft",
    visit: 1,
    steps: 1,
    routing: false,
    activation: "start",
    useRecorded: false,
    noProgress: 0,
    graphDigest: sha256Hex("graph"),
    input: { json: "{}" },
    inputDigest: sha256Hex("{}"),
    mode: "headless",
    createdAt: 1,
    updatedAt: 1,
    ...change,
  };
}

export function eventRecord(
  runId: string,
  change: Partial<EventRecord> = {},
): Omit<EventRecord, "position"> {
  return { runId, revision: 1, kind: "admit", at: 1, data: {}, ...change };
}

export function attemptRecord(runId: string, change: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    attemptId: newId("att"),
    runId,
    ordinal: 1,
    node: "draft",
    visit: 1,
    attempt: 1,
    status: "running",
    generation: 1,
    startedAt: 1,
    ...change,
  };
}

export function claimRecord(runId: string, change: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    runId,
    generation: 1,
    epoch: 1,
    workerId: "wrk_one",
    tokenHash: TOKEN_HASH,
    acquired: 0,
    heartbeat: 0,
    expiry: 30_000,
    released: false,
    lastNumber: 0,
    ...change,
  };
}

export function workerRecord(runId: string, change: Partial<WorkerRecord> = {}): WorkerRecord {
  return {
    workerId: newId("wrk"),
    runId,
    generation: 1,
    epoch: 1,
    pid: 4711,
    startTime: "100",
    bootId: "boot",
    startedAt: 1,
    ...change,
  };
}

export function interactionRecord(
  attempt: AttemptRecord,
  change: Partial<InteractionRecord> = {},
): InteractionRecord {
  return {
    interactionId: newId("int"),
    runId: attempt.runId,
    attemptId: attempt.attemptId,
    node: attempt.node,
    visit: attempt.visit,
    kind: "checkpoint",
    status: "pending",
    summary: "Ship it?",
    reminders: 0,
    modelErrors: 0,
    lostTurns: 0,
    createdAt: 1,
    ...change,
  };
}

export function timerRecord(
  attempt: AttemptRecord,
  change: Partial<TimerRecord> = {},
): TimerRecord {
  return {
    timerId: newId("tim"),
    runId: attempt.runId,
    attemptId: attempt.attemptId,
    kind: "wait",
    status: "pending",
    dueAt: 1_000,
    createdAt: 1,
    ...change,
  };
}

export function effectRecord(runId: string, change: Partial<EffectRecord> = {}): EffectRecord {
  const effectId = newId("eff");
  return {
    effectId,
    runId,
    node: "draft",
    visit: 1,
    type: "shell",
    policy: "manual",
    key: `key of ${effectId}`,
    fingerprint: sha256Hex("request"),
    status: "pending",
    observable: false,
    unknownBefore: false,
    createdAt: 1,
    updatedAt: 1,
    ...change,
  };
}

export function commandRecord(change: Partial<CommandRecord> = {}): CommandRecord {
  return {
    key: newId("req"),
    method: "StartRun",
    fingerprint: sha256Hex("request"),
    revision: 1,
    committedAt: 1,
    ...change,
  };
}

/** A run as admission leaves it: the row and its first event. */
export function putRun(tx: Tx, change: Partial<RunRecord> = {}): RunRecord {
  const run = runRecord({ position: tx.runs.lastPosition() + 1, ...change });
  tx.put.run(run, GRAPH);
  tx.put.event(eventRecord(run.runId));
  return run;
}

/** A running run with an open claim of epoch 1 and an open attempt. */
export function putRunning(
  tx: Tx,
  change: Partial<RunRecord> = {},
): { readonly run: RunRecord; readonly attempt: AttemptRecord; readonly claim: ClaimRecord } {
  const run = putRun(tx, { status: "running", generation: 1, ...change });
  const attempt = attemptRecord(run.runId);
  const claim = claimRecord(run.runId);
  tx.put.attempt(attempt);
  tx.put.claim(claim);
  return { run, attempt, claim };
}
