import type Database from "better-sqlite3";
import { attemptReader, attemptWriter } from "./statements/attempts.ts";
import { claimReader, claimWriter } from "./statements/claims.ts";
import { commandReader, commandWriter } from "./statements/commands.ts";
import { Connection } from "./statements/connection.ts";
import { effectReader, effectWriter } from "./statements/effects.ts";
import { epochReader, epochWriter } from "./statements/epochs.ts";
import { eventReader, eventWriter } from "./statements/events.ts";
import { interactionReader, interactionWriter } from "./statements/interactions.ts";
import { messageReader, messageWriter } from "./statements/messages.ts";
import { metaProbe, metaReader } from "./statements/meta.ts";
import { progressReader, progressWriter } from "./statements/progress.ts";
import { runReader, runWriter } from "./statements/runs.ts";
import { sessionReader, sessionWriter } from "./statements/sessions.ts";
import { sourceReader, sourceWriter } from "./statements/sources.ts";
import { submissionReader, submissionWriter } from "./statements/submissions.ts";
import { timerReader, timerWriter } from "./statements/timers.ts";
import { turnReader, turnWriter } from "./statements/turns.ts";
import { blobReader, blobWriter } from "./statements/values.ts";
import type { BlobWriter } from "./statements/values.ts";
import { workerReader, workerWriter } from "./statements/workers.ts";
import type { SessionWriter } from "./session-tables.ts";
import type { Reader, Tx } from "./tx.ts";

/** What one write did that others must hear of, once it is durable. */
export interface WriteEffects {
  /** Whether any row was touched. */
  wrote: boolean;
  readonly runIds: Set<string>;
  /** Runs whose status or claim was set to something else than to go on. */
  readonly turnedRunIds: Set<string>;
  /** Sessions whose messages, turns or own rows changed. */
  readonly sessionIds: Set<string>;
  readonly afterCommit: (() => void)[];
}

/** The statements of one open database, and the write whose body runs now. */
export interface Session {
  readonly reader: Reader;
  readonly tx: Tx;
  readonly blobs: BlobWriter;
  /** A write of one small row, to learn whether the storage takes any. */
  readonly probe: () => void;
  /** Runs a body and returns what it did beside its value. */
  run<T>(body: (tx: Tx) => T): { readonly value: T; readonly effects: WriteEffects };
}

export function openSession(db: Database.Database, now: () => number): Session {
  let current: WriteEffects | undefined;
  const connection = new Connection(db, () => {
    if (current !== undefined) current.wrote = true;
  });
  const blobs = blobWriter(connection, now);
  const probe = metaProbe(connection);
  const reader = assembleReader(connection);
  const effects = (): WriteEffects => {
    if (current === undefined) throw new Error("a write outside the body of a door");
    return current;
  };
  const tx: Tx = {
    ...reader,
    put: assemblePut(connection, blobs, effects),
    afterCommit: (run) => effects().afterCommit.push(run),
  };
  return {
    reader,
    tx,
    blobs,
    probe: () => probe(now()),
    run(body) {
      current = noEffects();
      const mine = current;
      try {
        return { value: body(tx), effects: mine };
      } finally {
        current = undefined;
      }
    },
  };
}

function noEffects(): WriteEffects {
  return {
    wrote: false,
    runIds: new Set(),
    turnedRunIds: new Set(),
    sessionIds: new Set(),
    afterCommit: [],
  };
}

function assembleReader(connection: Connection): Reader {
  return {
    runs: runReader(connection),
    sources: sourceReader(connection),
    attempts: attemptReader(connection),
    claims: claimReader(connection),
    workers: workerReader(connection),
    interactions: interactionReader(connection),
    timers: timerReader(connection),
    effects: effectReader(connection),
    progress: progressReader(connection),
    events: eventReader(connection),
    commands: commandReader(connection),
    values: blobReader(connection),
    meta: metaReader(connection),
    epochs: epochReader(connection),
    submissions: submissionReader(connection),
    sessions: sessionReader(connection),
    messages: messageReader(connection),
    turns: turnReader(connection),
  };
}

function assemblePut(
  connection: Connection,
  blobs: BlobWriter,
  effects: () => WriteEffects,
): Tx["put"] {
  const { remove, ...runs } = runWriter(connection);
  const { event } = eventWriter(connection);
  const { progress } = progressWriter(connection);
  const changed = (runId: string): unknown => effects().runIds.add(runId);
  return {
    ...runs,
    ...sourceWriter(connection, blobs),
    ...attemptWriter(connection),
    ...assembleTurningPut(connection, runs, (runId) => effects().turnedRunIds.add(runId)),
    ...workerWriter(connection),
    ...interactionWriter(connection),
    ...timerWriter(connection),
    ...effectWriter(connection),
    ...commandWriter(connection),
    ...epochWriter(connection),
    ...submissionWriter(connection),
    ...assembleSessionPut(connection, (sessionId) => effects().sessionIds.add(sessionId)),
    value: (text) => blobs.value(text),
    // What a watcher can see: events and progress. Renewals are nobody's business.
    event(appended) {
      event(appended);
      changed(appended.runId);
    },
    progress(newest) {
      progress(newest);
      changed(newest.runId);
    },
    prunedRun(runId) {
      const digests = blobs.ofRun(runId);
      remove(runId);
      blobs.collect(digests);
      changed(runId);
      effects().turnedRunIds.add(runId);
    },
  };
}

/** Who waits for a run to end, to park or to be taken away need not look at each of its steps. */
function assembleTurningPut(
  connection: Connection,
  runs: Pick<Tx["put"], "run" | "runChange">,
  turned: (runId: string) => void,
): Pick<Tx["put"], "run" | "runChange" | "claim" | "claimChange"> {
  const { claim, claimChange } = claimWriter(connection);
  return {
    run(run, graph) {
      runs.run(run, graph);
      turned(run.runId);
    },
    runChange(runId, change) {
      runs.runChange(runId, change);
      if (change.status !== undefined && change.status !== "running") turned(runId);
    },
    claim(taken) {
      claim(taken);
      turned(taken.runId);
    },
    claimChange(runId, generation, change) {
      claimChange(runId, generation, change);
      if (change.released === true) turned(runId);
    },
  };
}

/** Whoever shows a session hears of each change of its rows. */
function assembleSessionPut(
  connection: Connection,
  changed: (sessionId: string) => void,
): Omit<SessionWriter, "submission" | "submissionChange"> {
  const { session, sessionChange } = sessionWriter(connection);
  const { message, messageChange } = messageWriter(connection);
  const { turn, turnChange } = turnWriter(connection);
  const messages = messageReader(connection);
  const changedOf = (messageId: string): void => {
    const sessionId = messages.get(messageId)?.sessionId;
    if (sessionId !== undefined) changed(sessionId);
  };
  return {
    session(added) {
      session(added);
      changed(added.sessionId);
    },
    sessionChange(sessionId, change) {
      sessionChange(sessionId, change);
      changed(sessionId);
    },
    message(added) {
      message(added);
      changed(added.sessionId);
    },
    messageChange(messageId, change) {
      changedOf(messageId);
      messageChange(messageId, change);
      if (change.sessionId !== undefined) changed(change.sessionId);
    },
    turn(added) {
      turn(added);
      changed(added.sessionId);
    },
    turnChange(messageId, change) {
      turnChange(messageId, change);
      changedOf(messageId);
    },
  };
}
