// The power goes while a run is under way. The next host finds all that was acknowledged, whatever lies
// behind it in the log, and brings the run to the same end, with no settled effect done again.
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { answer, JOURNEYS, startRun } from "../support/journeys.ts";
import { framesOf, leave, REMAINS } from "../support/power-cut.ts";
import { newStateFolder } from "../support/real-host.ts";
import { endingOf, Voyage } from "../support/voyage.ts";
import type { CleanUp } from "../support/real-host.ts";

const { WAITING, COMPLETED } = RunStatus;
const { travels } = JOURNEYS;
/** Moments of one voyage at which the power goes; each way of tearing the log has moments of its own. */
const CUTS = 3;
const KINDS = Object.entries(REMAINS);
/** As many hosts as there are cuts, one after another, for each kind. */
const PATIENCE = { timeout: 400_000 };

interface Recording {
  readonly voyage: Voyage;
  readonly runId: string;
  readonly database: Buffer;
  readonly wal: Buffer;
  /** Ends of the COMMITs of the run. */
  readonly commits: readonly number[];
  /** What a client was shown, and how far the log was then. */
  readonly shown: readonly { readonly walBytes: number; readonly revision: number }[];
}

describe.concurrent("a power cut that leaves, behind the last sync,", () => {
  test.for(KINDS.map(([name], offset) => ({ name, offset })))(
    "$name brings every run to the same end",
    PATIENCE,
    async ({ name, offset }, { onTestFinished: cleanUp }) => {
      const recording = await record(cleanUp);
      const { commits, wal } = recording;
      const all = CUTS * KINDS.length;
      expect(commits.length).toBeGreaterThan(all);
      for (let cut = 0; cut < CUTS; cut += 1) {
        const at = Math.floor(((cut * KINDS.length + offset) / all) * (commits.length - 1));
        const [synced = 0, next = wal.length] = commits.slice(at);
        // The next COMMIT was being written: all but its last byte.
        const torn = Math.floor(synced + ((next - 1 - synced) * (cut + 1)) / CUTS);
        const written = wal.subarray(0, next);
        const left = REMAINS[name]?.(written, torn) ?? written;
        await expectSameEnd(recording, { synced, wal: left }, cleanUp);
      }
    },
  );
});

/** One run to its end. A reader keeps its log from starting over, so that each moment of it is there. */
async function record(cleanUp: CleanUp): Promise<Recording> {
  const voyage = new Voyage({ cleanUp });
  const { paths } = await voyage.host();
  const log = `${paths.database}-wal`;
  const pin = new Database(paths.database, { readonly: true });
  pin.exec("BEGIN");
  pin.prepare("SELECT count(*) FROM runs").get();
  const begun = statSync(log).size;
  const runId = await startRun(voyage, "start", "travels");
  const shown = [{ walBytes: statSync(log).size, revision: 1 }];
  const end = voyage.until(runId, ({ summary }) => {
    shown.push({ walBytes: statSync(log).size, revision: Number(summary?.revision) });
    return summary?.status === COMPLETED;
  });
  await answer(voyage, runId);
  await end;
  await voyage.leave("kill");
  const [database, wal] = [readFileSync(paths.database), readFileSync(log)];
  pin.close();
  const commits = framesOf(wal).filter((frame) => frame.commits && frame.end >= begun);
  return { voyage, runId, database, wal, commits: commits.map((frame) => frame.end), shown };
}

interface Cut {
  /** How far the log had been synced. */
  readonly synced: number;
  readonly wal: Buffer;
}

async function expectSameEnd(
  { voyage: first, runId, database, shown }: Recording,
  { synced, wal }: Cut,
  cleanUp: CleanUp,
): Promise<void> {
  const stored = rowsOf(leave(newStateFolder(cleanUp), { database, wal }), runId);
  const known = shown.findLast(({ walBytes }) => walBytes <= synced);
  expect(stored.revision).toBeGreaterThanOrEqual(known?.revision ?? 0);

  const state = newStateFolder(cleanUp);
  leave(state, { database, wal });
  rmSync(join(first.project, "effects"), { force: true });
  const voyage = new Voyage({ cleanUp, state, project: first.project });
  const again = await startRun(voyage, "start", "travels");
  expect(again === runId).toBe(stored.revision > 0);
  const { summary } = await voyage.until(
    again,
    (run) => run.summary?.status === WAITING || run.summary?.status === COMPLETED,
  );
  if (summary?.status === WAITING && summary.node === "ask") await answer(voyage, again);
  const end = await voyage.untilStatus(again, COMPLETED);
  expect(endingOf(end)).toEqual(travels.ending);
  const isLeft = ([key]: readonly [string, number]): boolean => !stored.applied.includes(key);
  expect(voyage.effects(again)).toEqual(
    Object.fromEntries(Object.entries(travels.effects).filter(isLeft)),
  );
  await voyage.expectSound(again);
  await voyage.leave("kill");
}

interface Stored {
  /** 0 when there is no such run. */
  readonly revision: number;
  /** Keys, without the run, of the effects that are known to have happened. */
  readonly applied: readonly string[];
}

/** What the files hold, read from a copy that no host will open. */
function rowsOf(path: string, runId: string): Stored {
  const db = new Database(path);
  try {
    const revision = db.prepare("SELECT revision FROM runs WHERE run_id = ?").pluck().get(runId);
    const applied = db
      .prepare("SELECT key FROM effects WHERE run_id = ? AND status = 'applied'")
      .pluck()
      .all(runId);
    return {
      revision: Number(revision ?? 0),
      applied: applied.map((key) => String(key).slice(runId.length + 1)),
    };
  } finally {
    db.close();
  }
}
