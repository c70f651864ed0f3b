import type Database from "better-sqlite3";
import { attemptReader, attemptWriter } from "./statements/attempts.ts";
import { claimReader, claimWriter } from "./statements/claims.ts";
import { commandReader, commandWriter } from "./statements/commands.ts";
import { Connection } from "./statements/connection.ts";
import { effectReader, effectWriter } from "./statements/effects.ts";
import { epochReader, epochWriter } from "./statements/epochs.ts";
import { eventReader, eventWriter } from "./statements/events.ts";
import { interactionReader, interactionWriter } from "./statements/interactions.ts";
import { metaProbe, metaReader } from "./statements/meta.ts";
import { progressReader, progressWriter } from "./statements/progress.ts";
import { runReader, runWriter } from "./statements/runs.ts";
import { sourceReader, sourceWriter } from "./statements/sources.ts";
import { timerReader, timerWriter } from "./statements/timers.ts";
import { blobReader, blobWriter } from "./statements/values.ts";
import type { BlobWriter } from "./statements/values.ts";
import { workerReader, workerWriter } from "./statements/workers.ts";
import type { Reader, Tx } from "./tx.ts";

/** What one write did that others must hear of, once it is durable. */
export interface WriteEffects {
  /** Whether any row was touched. */
  wrote: boolean;
  readonly runIds: Set<string>;
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
    put: assemblePut(connection, blobs, (runId) => effects().runIds.add(runId)),
    afterCommit: (run) => effects().afterCommit.push(run),
  };
  return {
    reader,
    tx,
    blobs,
    probe: () => probe(now()),
    run(body) {
      current = { wrote: false, runIds: new Set(), afterCommit: [] };
      const mine = current;
      try {
        return { value: body(tx), effects: mine };
      } finally {
        current = undefined;
      }
    },
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
  };
}

function assemblePut(
  connection: Connection,
  blobs: BlobWriter,
  changed: (runId: string) => void,
): Tx["put"] {
  const { remove, ...runs } = runWriter(connection);
  const { event } = eventWriter(connection);
  const { progress } = progressWriter(connection);
  return {
    ...runs,
    ...sourceWriter(connection, blobs),
    ...attemptWriter(connection),
    ...claimWriter(connection),
    ...workerWriter(connection),
    ...interactionWriter(connection),
    ...timerWriter(connection),
    ...effectWriter(connection),
    ...commandWriter(connection),
    ...epochWriter(connection),
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
    },
  };
}
