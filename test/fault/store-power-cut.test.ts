// The power may go at any moment. What is on the disk then is all that was synced, and any part of what
// was not. Whatever it is, the store opens, holds what was acknowledged, and nothing of what was not.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { diagnose } from "../../src/host/diagnosis.ts";
import type { Finding } from "../../src/host/diagnosis.ts";
import { recover } from "../../src/host/recovery.ts";
import { takeEpoch } from "../../src/host/store/doors.ts";
import { framesOf, intactBytes, leave, REMAINS } from "../support/power-cut.ts";
import { arrange } from "../support/scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { openTestHost, temporaryFolder } from "../support/test-store.ts";

const PAGE_BYTES = 4_096;
/** By every door, and with rows of every kind. */
const WAYS = [
  "running with a manual effect",
  "queued for a validation",
  "running with a decision",
  "running and pausing",
];

/** The files as they are, and how far the log was when each COMMIT was about to be acknowledged. */
interface Recording {
  readonly database: Buffer;
  readonly wal: Buffer;
  readonly acknowledged: readonly Acknowledged[];
}

interface Acknowledged {
  readonly walBytes: number;
  /** Position of the newest event. */
  readonly position: number;
}

/** Cuts that leave COMMITs before them whole: at frames, inside their heads and inside their pages. */
function cutsOf(wal: Buffer): readonly number[] {
  const ends = framesOf(wal).map(({ end }) => end);
  const places = [-4_100, -2_000, -1, 0];
  return [0, 16, 32, ...ends.map((end, index) => end + (places[index % places.length] ?? 0))];
}

// Hundreds of databases are opened, on a machine that may do much else.
describe("a power cut", { timeout: 60_000 }, () => {
  test.each(WAYS)(
    "on the way to a run that is %s takes nothing acknowledged and leaves nothing half",
    async (scene) => {
      const rig = new TestRig();
      const recording = await record(rig, () => arrange(rig, scene));
      const { acknowledged, database, wal } = recording;
      const folder = temporaryFolder();
      const kinds = Object.values(REMAINS);
      for (const [index, cut] of cutsOf(wal).entries()) {
        const torn = kinds[Math.floor(index / 4) % kinds.length]?.(wal, cut) ?? wal;
        const position = positionAt(acknowledged, intactBytes(wal, torn));
        expect(stateOf(leave(folder, { database, wal: torn }))).toEqual(sound(position));
      }
    },
  );

  test("is recovered from like the death of a host", async () => {
    const rig = new TestRig();
    const scenes = [
      "running with a manual effect",
      "queued for a validation",
      "running and pausing",
    ];
    const { database, wal, acknowledged } = await record(rig, async () => {
      for (const scene of scenes) await arrange(rig, scene);
    });
    const folder = temporaryFolder();
    for (const { walBytes } of acknowledged) {
      const path = leave(folder, { database, wal: wal.subarray(0, walBytes) });
      const { store, host } = openTestHost({ path });
      const process = { pid: 2, startTime: "2", bootId: "boot", version: "1", startedAt: 1 };
      const epoch = await takeEpoch(store, process);
      const reap = (): Promise<{ workers: []; processes: number }> =>
        Promise.resolve({ workers: [], processes: 0 });
      await recover({ ...host, epoch }, { reap });
      expect(diagnose(store.reader)).toEqual([]);
      expect(store.reader.runs.withStatus("running", 0, 10)).toEqual([]);
      store.close();
    }
    expect(acknowledged.length).toBeGreaterThan(10);
  });

  test("in the middle of a checkpoint leaves pages of both states, and the log mends them", async () => {
    const rig = new TestRig();
    const { database: before, wal, acknowledged } = await record(rig, () => life(rig));
    const after = checkpointed({ database: before, wal });
    const folder = temporaryFolder();
    const position = acknowledged.at(-1)?.position ?? 0;
    for (let page = 0; page < after.length / PAGE_BYTES; page += 9) {
      for (const torn of [0, 512, 3_000]) {
        const at = page * PAGE_BYTES + torn;
        // The pages that were written first need not be the first of the file.
        for (const [one, other] of [
          [after, before],
          [before, after],
        ] as const) {
          const database = Buffer.concat([one.subarray(0, at), other.subarray(at)]);
          expect(stateOf(leave(folder, { database, wal }))).toEqual(sound(position));
        }
      }
    }
  });

  test("in a log that has started over believes nothing of the old one behind it", async () => {
    const rig = new TestRig();
    const first = await record(rig, () => life(rig));
    rig.at.store.maintain();
    const written = (path: string): number => framesOf(copyOf(path)).at(-1)?.end ?? 0;
    const again = (): Promise<unknown> => arrange(rig, "waiting for an answer");
    const { database, wal, acknowledged } = await record(rig, again, written);
    // Shorter than the old one, which still lies behind it.
    expect(framesOf(wal).length).toBeLessThan(framesOf(first.wal).length);
    const folder = temporaryFolder();
    const position = first.acknowledged.at(-1)?.position ?? 0;
    for (const cut of cutsOf(wal).filter((_, index) => index % 3 === 0)) {
      const torn = Buffer.concat([wal.subarray(0, cut), first.wal.subarray(cut)]);
      const reached = positionAt(acknowledged, intactBytes(wal, torn));
      expect(stateOf(leave(folder, { database, wal: torn }))).toEqual(
        sound(Math.max(position, reached)),
      );
    }
  });
});

describe.skipIf(spawnSync("strace", ["-V"]).status !== 0)("the system (needs strace)", () => {
  test("is told to sync the log after every COMMIT and before it is acknowledged", () => {
    const folder = temporaryFolder();
    const trace = join(folder, "trace");
    const program = join(import.meta.dirname, "../fixtures/children/store-writer.ts");
    const titles = ["first", "second", "third"];
    const watched = ["-f", "-y", "-e", "trace=write,pwrite64,fsync,fdatasync", "-o", trace];
    const command = [process.execPath, program, join(folder, "host.db"), ...titles];
    expect(spawnSync("strace", [...watched, ...command]).status).toBe(0);
    const acts = readFileSync(trace, "utf8").split("\n").flatMap(actOf);
    for (const title of titles) {
      const told = acts.indexOf(title);
      expect(acts.slice(0, told).findLast((act) => act === "write" || act === "sync")).toBe("sync");
    }
    expect(acts.filter((act) => act === "sync").length).toBeGreaterThanOrEqual(titles.length);
  });
});

/** Several runs, enough pages to see a difference. */
async function life(rig: TestRig): Promise<void> {
  for (const scene of ["running with a decision", "paused", "running with an accepted result"]) {
    await arrange(rig, scene);
  }
}

/** A log that has not started over is written as far as its file is long. */
async function record(
  rig: TestRig,
  act: () => Promise<unknown>,
  written = (wal: string): number => statSync(wal).size,
): Promise<Recording> {
  const { path, store } = rig.at;
  const acknowledged: Acknowledged[] = [];
  const stop = store.subscribe(() => {
    const position = store.reader.events.lastPosition();
    acknowledged.push({ walBytes: written(`${path}-wal`), position });
  });
  await act();
  stop();
  return { database: copyOf(path), wal: copyOf(`${path}-wal`), acknowledged };
}

/** Another process reads it: to close the file in this one would drop the store's own locks. */
function copyOf(path: string): Buffer {
  return execFileSync("cat", [path], { maxBuffer: Number.MAX_SAFE_INTEGER });
}

function positionAt(acknowledged: readonly Acknowledged[], cut: number): number {
  return acknowledged.findLast(({ walBytes }) => walBytes <= cut)?.position ?? 0;
}

interface State {
  /** Position of the newest event. */
  readonly position: number;
  readonly findings: readonly Finding[];
}

function stateOf(path: string): State {
  const { store } = openTestHost({ path });
  const state = { position: store.reader.events.lastPosition(), findings: diagnose(store.reader) };
  store.close();
  return state;
}

function sound(position: number): State {
  return { position, findings: [] };
}

function checkpointed(files: { readonly database: Buffer; readonly wal: Buffer }): Buffer {
  const path = leave(temporaryFolder(), files);
  new Database(path).close();
  return readFileSync(path);
}

/** A write of the log, a sync of it, or what the program said. */
function actOf(line: string): readonly string[] {
  if (/fdatasync\(.*host\.db-wal|fsync\(.*host\.db-wal/.test(line)) return ["sync"];
  if (/pwrite64\(.*host\.db-wal/.test(line)) return ["write"];
  const [, title] = /write\(1.*"(\w+)\\n"/.exec(line) ?? [];
  return title === undefined ? [] : [title];
}
