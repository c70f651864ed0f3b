import { HostError } from "../errors.ts";
import {
  GRAPH_NODES_MAX,
  NAME_BYTES_MAX,
  NOTE_BYTES_MAX,
  PRIORITY_ABS_MAX,
  RECENT_START_MS,
  VALUE_BYTES_MAX,
} from "../limits.ts";
import { newId, sha256Hex } from "../../platform/ids.ts";
import type { GraphRecord, Instant, RunRecord, SourceWithContent } from "../records.ts";
import type { ModelRecord } from "../records-sessions.ts";
import { command } from "../store/doors.ts";
import type { CommandResult } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { Reader, Tx } from "../store/tx.ts";
import { cancel, pause } from "./run-control.ts";
import type { AskedCommand } from "./canonical.ts";
import { graphDigest } from "./graph.ts";
import { resume } from "./resume.ts";
import type { ResumeRequest } from "./resume.ts";
import { requireBytes, storeSources, storeValue } from "./step.ts";
import type { Step } from "./step.ts";

export interface Admission {
  /** When its id was told before; a new one by default. */
  readonly runId?: string;
  readonly workflow: string;
  readonly workflowPath: string;
  readonly projectDir: string;
  /** Empty means the workflow's name. */
  readonly title: string;
  readonly graph: GraphRecord;
  readonly sources: readonly SourceWithContent[];
  /** The input as the workflow accepted it. */
  readonly inputJson: string;
  /** Earliest start; now by default. */
  readonly notBefore?: Instant;
  readonly priority: number;
  readonly restartedFrom?: string;
  /** The session that shows the run's steps; without one the run is headless. */
  readonly originSession?: string;
  /** Model of a headless run's steps. */
  readonly model?: ModelRecord;
  /** A run that the session started from this file and input a moment ago is taken instead. */
  readonly adoptRecent?: boolean;
}

/**
 * Stores a new run and queues it. A repeat of the key gets the same run; so does
 * one with `adoptRecent` when its session has started just this a moment ago.
 */
export async function admitRun(
  host: HostContext,
  asked: AskedCommand,
  admission: Admission,
): Promise<CommandResult> {
  try {
    return await command(host, asked, (tx) => {
      requireAdmissible(admission);
      requireSession(tx, admission.originSession);
      const at = host.clock.now();
      const recent = admission.adoptRecent === true ? recentOf(tx, admission, at) : undefined;
      if (recent !== undefined) throw new RecentStart(recent);
      return { runId: putRun(tx, admission, at) };
    });
  } catch (error) {
    if (!(error instanceof RecentStart)) throw error;
    const { runId, revision, createdAt } = error.run;
    return { outcome: "adopted", runId, revision, committedAt: createdAt };
  }
}

/** Leaves the transaction, which has nothing to store, with the run that is there already. */
class RecentStart extends Error {
  readonly run: RunRecord;

  constructor(run: RunRecord) {
    super("the session has started this run a moment ago");
    this.run = run;
  }
}

export interface RecentStartQuery {
  readonly originSession: string;
  readonly workflowPath: string;
  /** The input as the workflow accepted it. */
  readonly inputJson: string;
  readonly now: Instant;
}

/** The run that a session started from the same file with the same input a moment ago. */
export function findRecentStart(
  reader: Reader,
  { originSession, workflowPath, inputJson, now }: RecentStartQuery,
): RunRecord | undefined {
  return reader.runs.startedBySession({
    sessionId: originSession,
    workflowPath,
    inputDigest: sha256Hex(inputJson),
    since: now - RECENT_START_MS,
  });
}

function recentOf(tx: Tx, admission: Admission, now: Instant): RunRecord | undefined {
  const { originSession, workflowPath, inputJson } = admission;
  if (originSession === undefined) return undefined;
  return findRecentStart(tx, { originSession, workflowPath, inputJson, now });
}

/** Only a session that the host has seen can show a run; a headless run's own shows that run only. */
function requireSession(tx: Tx, sessionId: string | undefined): void {
  if (sessionId === undefined) return;
  const session = tx.sessions.get(sessionId);
  if (session !== undefined && session.headlessRun === undefined) return;
  const message =
    session === undefined
      ? `session ${sessionId} has never been attached to this host, so it cannot show a run`
      : `session ${sessionId} is the own one of run ${session.headlessRun} and starts no other`;
  throw new HostError("REQUEST_INVALID", message);
}

export interface PauseRequest {
  readonly runId: string;
  /** Do not wait for an effect that is being applied. */
  readonly now: boolean;
}

/**
 * Stops a run at its present boundary. While an effect is being applied the
 * request is only noted, and the next boundary lands in `paused`; with `now`
 * its outcome is given up instead.
 */
export function pauseRun(
  host: HostContext,
  asked: AskedCommand,
  { runId, now }: PauseRequest,
): Promise<CommandResult> {
  return command(host, { ...asked, runId }, (tx, run) => {
    pause(stepOf(host, tx, run), now);
    return {};
  });
}

/** Lets a paused or blocked run go on, or takes back a pause that was only requested. */
export function resumeRun(
  host: HostContext,
  asked: AskedCommand,
  { runId, ...wanted }: ResumeRequest & { readonly runId: string },
): Promise<CommandResult> {
  return command(host, { ...asked, runId }, (tx, run) => {
    resume(stepOf(host, tx, run), wanted);
    return {};
  });
}

export interface CancelRequest {
  readonly runId: string;
  /** Why, for the record. */
  readonly note: string;
}

/** Ends a run that has not ended, with everything it left open, before its worker is stopped. */
export function cancelRun(
  host: HostContext,
  asked: AskedCommand,
  { runId, note }: CancelRequest,
): Promise<CommandResult> {
  return command(host, { ...asked, runId }, (tx, run) => {
    requireBytes(note, NOTE_BYTES_MAX, "the note");
    cancel(stepOf(host, tx, run), note);
    return {};
  });
}

function putRun(tx: Tx, admission: Admission, at: Instant): string {
  const { graph, inputJson, workflow, workflowPath, projectDir, priority } = admission;
  const { restartedFrom, originSession, model } = admission;
  const run: RunRecord = {
    runId: admission.runId ?? newId("run"),
    position: tx.runs.lastPosition() + 1,
    workflow,
    title: admission.title === "" ? workflow : admission.title,
    workflowPath,
    projectDir,
    status: "queued",
    pauseRequested: false,
    revision: 1,
    boundary: 0,
    generation: 0,
    priority,
    // A timestamp may be finer than a millisecond; never early.
    availableAt: Math.max(at, Math.ceil(admission.notBefore ?? at)),
    node: graph.startAt,
    visit: 1,
    steps: 1,
    routing: false,
    activation: "start",
    useRecorded: false,
    noProgress: 0,
    graphDigest: graphDigest(graph),
    input: storeValue(tx, inputJson, "the input"),
    inputDigest: sha256Hex(inputJson),
    mode: originSession === undefined ? "headless" : "session",
    createdAt: at,
    updatedAt: at,
    ...(originSession === undefined ? {} : { originSession }),
    ...(model === undefined ? {} : { model }),
    ...(restartedFrom === undefined ? {} : { restartedFrom }),
  };
  const { runId, revision } = run;
  tx.put.run(run, graph);
  storeSources({ tx, run, at }, admission.sources);
  const data = { workflow, ...(restartedFrom === undefined ? {} : { restartedFrom }) };
  tx.put.event({ runId, revision, kind: "admit", at, node: run.node, data });
  return runId;
}

function requireAdmissible({ workflow, title, graph, inputJson, priority }: Admission): void {
  requireBytes(workflow, NAME_BYTES_MAX, "the workflow's name");
  requireBytes(title, NAME_BYTES_MAX, "the run's title");
  requireBytes(inputJson, VALUE_BYTES_MAX, "the input");
  if (!Number.isInteger(priority) || Math.abs(priority) > PRIORITY_ABS_MAX) {
    const range = `${-PRIORITY_ABS_MAX} to ${PRIORITY_ABS_MAX}`;
    throw new HostError("REQUEST_INVALID", `priority ${priority} is no whole number of ${range}`);
  }
  const actual = graph.nodes.length;
  if (actual <= GRAPH_NODES_MAX) return;
  const message = `the workflow has ${actual} nodes, at most ${GRAPH_NODES_MAX} are taken`;
  throw new HostError("LIMIT_EXCEEDED", message, { limit: GRAPH_NODES_MAX, actual });
}

/** The run that the door has read; it refuses an unknown one itself. */
function stepOf(host: HostContext, tx: Tx, run: RunRecord | undefined): Step {
  if (run === undefined) throw new HostError("RUN_NOT_FOUND", "the command names no run");
  return { tx, run, at: host.clock.now() };
}
