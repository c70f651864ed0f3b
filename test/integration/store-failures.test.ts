import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { BATCH_WRITES_MAX } from "../../src/host/limits.ts";
import { GroupCommit } from "../../src/host/store/group-commit.ts";
import { openDatabase } from "../../src/host/store/open-database.ts";
import { readSchema } from "../../src/host/store/schema.ts";
import { openSession } from "../../src/host/store/session.ts";
import type { Reader, Tx } from "../../src/host/store/tx.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { memoryLog } from "../support/memory-log.ts";
import { putRun } from "../support/records.ts";
import { openTestStore, temporaryFolder } from "../support/test-store.ts";

const BIG = "x".repeat(400_000);

const admit = (tx: Tx): number => putRun(tx).position;
const admitBig = (tx: Tx): number => putRun(tx, { input: tx.put.value(BIG) }).position;

interface Limited {
  readonly db: Database.Database;
  readonly reader: Reader;
  readonly commits: GroupCommit;
  readonly fatal: unknown[];
}

/** Group commit over a database whose connection the test can limit. */
function openLimited(): Limited {
  const path = join(temporaryFolder(), "host.db");
  const db = openDatabase({ path, schema: readSchema(), synchronous: "NORMAL" });
  onTestFinished(() => void db.close());
  const session = openSession(db, () => 0);
  const fatal: unknown[] = [];
  const commits = new GroupCommit({
    db,
    session,
    clock: new FakeClock(),
    log: memoryLog().log,
    batchWrites: BATCH_WRITES_MAX,
    crash: () => {},
    onFatal: (error) => fatal.push(error),
    onApplied: () => undefined,
    onCommit: () => {},
  });
  return { db, reader: session.reader, commits, fatal };
}

function limitPages(db: Database.Database, more: number): void {
  db.pragma(`max_page_count = ${Number(db.pragma("page_count", { simple: true })) + more}`);
}

function reasons(settled: readonly PromiseSettledResult<unknown>[]): readonly unknown[] {
  return settled.map((one) =>
    one.status === "fulfilled" ? one.value : (one.reason as { reason?: string }).reason,
  );
}

// On FULL SQLite rolls back the whole transaction by itself. Whoever overlooks
// that lets the next statements commit one by one, each for itself.
describe("a database that is full in the middle of a batch", () => {
  test("refuses the whole batch and keeps nothing of it", async () => {
    const { db, reader, commits, fatal } = openLimited();
    limitPages(db, 10);
    const settled = await Promise.allSettled([
      commits.write("first", admit),
      commits.write("big", admitBig),
      commits.write("last", admit),
    ]);
    expect(reasons(settled)).toEqual(["STORAGE_FULL", "STORAGE_FULL", "STORAGE_FULL"]);
    expect(reader.runs.lastPosition()).toBe(0);
    expect(reader.events.lastPosition()).toBe(0);
    expect(db.inTransaction).toBe(false);
    expect(commits.stalled).toBe(true);
    expect(fatal).toEqual([]);
  });

  test("takes the same writes once there is room again", async () => {
    const { db, reader, commits } = openLimited();
    limitPages(db, 10);
    await expect(commits.write("big", admitBig)).rejects.toMatchObject({ reason: "STORAGE_FULL" });
    await commits.write("nothing", () => undefined);
    expect(commits.stalled).toBe(true);
    limitPages(db, 1000);
    await expect(commits.write("big", admitBig)).resolves.toBe(1);
    expect(commits.stalled).toBe(false);
    expect(reader.runs.lastPosition()).toBe(1);
  });

  test.each(["returns", "goes on writing"])(
    "keeps nothing either when a body swallows the error and %s",
    async (then) => {
      const { db, reader, commits } = openLimited();
      limitPages(db, 10);
      const swallow = (tx: Tx): unknown => {
        admit(tx);
        try {
          return admitBig(tx);
        } catch {
          return then === "returns" ? "all is well" : admit(tx);
        }
      };
      const settled = await Promise.allSettled([
        commits.write("first", admit),
        commits.write("swallows", swallow),
        commits.write("last", admit),
      ]);
      expect(reasons(settled)).toEqual(["STORAGE_FAILED", "STORAGE_FAILED", "STORAGE_FAILED"]);
      expect(reader.runs.lastPosition()).toBe(0);
      expect(reader.events.lastPosition()).toBe(0);
    },
  );
});

describe.runIf(canMount())("a disk that is full", () => {
  test("refuses what needs room, keeps all else, and goes on when there is some", async () => {
    const folder = join(temporaryFolder(), "disk");
    mount(folder);
    const { store, path, fatal } = openTestStore({
      path: join(folder, "host.db"),
      synchronous: "FULL",
    });
    await store.write("admit", admit);
    const filler = join(folder, "filler");
    fill(filler);
    const settled = await Promise.allSettled([
      store.write("small", admit),
      store.write("big", admitBig),
    ]);
    expect(reasons(settled)).toEqual(["STORAGE_FULL", "STORAGE_FULL"]);
    expect(store.reader.runs.lastPosition()).toBe(1);
    expect(store.stalled).toBe(true);
    await store.write("nothing", () => undefined);
    expect(store.stalled).toBe(true);
    rmSync(filler);
    store.maintain();
    await store.write("nothing", () => undefined);
    expect(store.stalled).toBe(false);
    await expect(store.write("big", admitBig)).resolves.toBe(2);
    expect(fatal).toEqual([]);
    store.close();
    const again = openTestStore({ path });
    expect(again.store.reader.runs.lastPosition()).toBe(2);
    again.store.close();
  });
});

describe.runIf(spawnSync("prlimit", ["--version"]).status === 0)("a COMMIT that fails", () => {
  test("with an input/output error is answered to nobody and ends the host", async () => {
    const { store, path, fatal } = openTestStore();
    await store.write("admit", admit);
    const answered: string[] = [];
    limitFiles(String(statSync(`${path}-wal`).size));
    try {
      store
        .write("unknown", admit)
        .then(() => answered.push("done"))
        .catch(() => answered.push("refused"));
      while (fatal.length === 0) await new Promise((resolve) => setImmediate(resolve));
    } finally {
      limitFiles("unlimited");
    }
    expect(fatal).toMatchObject([{ code: "SQLITE_IOERR_WRITE" }]);
    expect(answered).toEqual([]);
    expect(store.stalled).toBe(true);
    await expect(store.write("later", admit)).rejects.toMatchObject({ reason: "STORAGE_FAILED" });
  });
});

describe("a database that is damaged while it is open", () => {
  test("fails writes without a change, and without a guess", async () => {
    const { store, path, fatal } = openTestStore();
    await store.write("admit", admit);
    damage(path, "runs");
    await expect(store.write("next", admit)).rejects.toMatchObject({
      reason: "STORAGE_FAILED",
      message: expect.stringContaining("SQLITE_CORRUPT") as string,
    });
    expect(store.stalled).toBe(true);
    expect(fatal).toEqual([]);
    expect(store.reader.events.lastPosition()).toBe(1);
  });
});

/** Overwrites a table's root page on the disk and makes every connection read it anew. */
function damage(path: string, table: string): void {
  const other = new Database(path);
  const root = other
    .prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?")
    .pluck()
    .get(table) as number;
  other.pragma("wal_checkpoint(TRUNCATE)");
  const page = ["bs=4096", "count=1", `seek=${root - 1}`, "conv=notrunc"];
  // Another process: closing the file in this one would drop the store's own locks.
  expect(spawnSync("dd", ["if=/dev/urandom", `of=${path}`, ...page]).status).toBe(0);
  other.prepare("INSERT INTO meta (key, value) VALUES ('touched', '1')").run();
  other.close();
}

function limitFiles(bytes: string): void {
  const limited = spawnSync("prlimit", [`--pid=${process.pid}`, `--fsize=${bytes}:unlimited`]);
  expect(limited.status).toBe(0);
}

function mount(folder: string): void {
  mkdirSync(folder);
  expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "none", folder]).status).toBe(0);
  onTestFinished(() => void spawnSync("umount", [folder]));
}

/** Takes all the room but a few pages. */
function fill(file: string): void {
  for (const bytes of [65_536, 4_096]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: "a" });
    } catch {
      // That much does not fit any more.
    }
  }
}

function canMount(): boolean {
  const folder = join("/tmp", `pw-mount-${process.pid}`);
  mkdirSync(folder);
  try {
    return (
      spawnSync("mount", ["-t", "tmpfs", "none", folder]).status === 0 &&
      spawnSync("umount", [folder]).status === 0
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
