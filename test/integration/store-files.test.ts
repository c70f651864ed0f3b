import {
  copyFileSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { HostError } from "../../src/host/errors.ts";
import type { Store } from "../../src/host/store/store.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { writeWithoutPause } from "../support/database-lock.ts";
import { putRun } from "../support/records.ts";
import { openTestStore, temporaryFolder } from "../support/test-store.ts";

const LARGE = "x".repeat(100_000);

let inputs = 0;

/** Admits runs with different large inputs. */
async function fill(store: Store, runs: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < runs; index += 1) {
    inputs += 1;
    const input = JSON.stringify(`${inputs} ${LARGE}`);
    const run = await store.write("admit", (tx) =>
      putRun(tx, { status: "completed", finishedAt: 1, input: tx.put.value(input) }),
    );
    ids.push(run.runId);
  }
  return ids;
}

describe("a backup", () => {
  test("is a whole database of its owner's alone, with the digest of its bytes", async () => {
    const { store } = openTestStore();
    const [runId = ""] = await fill(store, 3);
    const path = join(temporaryFolder(), "copy.db");
    const report = await store.backup(path);
    expect(report).toEqual({ bytes: statSync(path).size, digest: sha256Hex(readFileSync(path)) });
    expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
    expect(readdirSync(dirname(path))).toEqual(["copy.db"]);
    const copy = openTestStore({ path });
    // Cursors of readers mean nothing in it.
    expect(copy.store.storeId).not.toBe(store.storeId);
    expect(copy.store.reader.runs.get(runId)).toStrictEqual(store.reader.runs.get(runId));
  });

  test("goes on while others write, and holds no half of a write", async () => {
    const { store } = openTestStore();
    await fill(store, 20);
    const path = join(temporaryFolder(), "copy.db");
    const progress = { running: true, written: 0 };
    const backup = store.backup(path).finally(() => {
      progress.running = false;
    });
    while (progress.running) {
      await fill(store, 1);
      progress.written += 1;
    }
    await backup;
    expect(progress.written).toBeGreaterThan(0);
    const copy = new Database(path, { readonly: true });
    onTestFinished(() => void copy.close());
    const count = (sql: string): unknown => copy.prepare(sql).pluck().get();
    expect(count("SELECT count(*) FROM runs")).toBe(count("SELECT count(*) FROM events"));
    expect(count("SELECT count(*) FROM runs")).toBe(count("SELECT count(*) FROM blobs"));
    expect(copy.pragma("integrity_check", { simple: true })).toBe("ok");
  });

  test("ends also while another program writes without a pause", async () => {
    const { store, path } = openTestStore();
    await fill(store, 60);
    const end = await writeWithoutPause(path, onTestFinished);
    const copy = join(temporaryFolder(), "copy.db");
    await store.backup(copy);
    await end();
    const db = new Database(copy, { readonly: true });
    onTestFinished(() => void db.close());
    expect(db.prepare("SELECT count(*) FROM runs").pluck().get()).toBe(60);
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  }, 60_000);

  test("replaces nothing", async () => {
    const { store, path } = openTestStore();
    const there = join(temporaryFolder(), "there.db");
    writeFileSync(there, "precious");
    for (const target of [there, path, `${path}-wal`])
      await expect(store.backup(target)).rejects.toThrow(HostError);
    expect(readFileSync(there, "utf8")).toBe("precious");
    await store.write("admit", (tx) => putRun(tx));
    expect(store.checkIdentity()).toBe(true);
  });

  test("into a folder that does not exist is refused", async () => {
    const { store } = openTestStore();
    const nowhere = join(temporaryFolder(), "none", "copy.db");
    await expect(store.backup(nowhere)).rejects.toMatchObject({ reason: "REQUEST_INVALID" });
  });

  test("that fails leaves no file", async () => {
    const { store } = openTestStore();
    await fill(store, 20);
    const path = join(temporaryFolder(), "copy.db");
    const backup = Promise.allSettled([store.backup(path)]);
    store.close();
    expect(await backup).toMatchObject([{ status: "rejected" }]);
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});

// Somebody restores an older copy over a live database, or deletes its WAL: what
// is then acknowledged would be written to files that have no name any more.
describe("the identity of the files", () => {
  const attacks: Readonly<Record<string, (path: string) => void>> = {
    "the database was replaced"(path) {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
    "the database is gone": (path) => rmSync(path),
    "the WAL is gone": (path) => rmSync(`${path}-wal`),
    "the shared memory is gone": (path) => rmSync(`${path}-shm`),
    "the lock was replaced"(path) {
      writeFileSync(`${path}.lock`, "");
      renameSync(`${path}.lock`, join(dirname(path), "host.lock"));
    },
  };

  test.each(Object.entries(attacks))("is not theirs any more when %s", (_how, attack) => {
    const folder = temporaryFolder();
    const lock = join(folder, "host.lock");
    writeFileSync(lock, "");
    const { store, path } = openTestStore({ path: join(folder, "host.db"), guarded: [lock] });
    expect(store.checkIdentity()).toBe(true);
    attack(path);
    expect(store.checkIdentity()).toBe(false);
  });

  test("survives writes, checkpoints, backups and maintenance", async () => {
    const { store } = openTestStore();
    await fill(store, 60);
    store.maintain();
    await store.backup(join(temporaryFolder(), "copy.db"));
    await store.write("wait for maintenance", () => undefined);
    expect(store.checkIdentity()).toBe(true);
  });
});

describe("the sizes", () => {
  test("are those of the database as it stands, and of a WAL that stays small", async () => {
    const { store, path } = openTestStore();
    await fill(store, 100);
    const { databaseBytes, walBytes } = store.sizes();
    expect(databaseBytes).toBeGreaterThan(100 * LARGE.length);
    expect(walBytes).toBe(statSync(`${path}-wal`).size);
    expect(walBytes).toBeLessThan(8 * 1024 * 1024);
    store.close();
    expect(statSync(path).size).toBe(databaseBytes);
  });

  test("tell the room that pruned runs left", async () => {
    const { store } = openTestStore();
    const ids = await fill(store, 10);
    expect(store.sizes().freeBytes).toBe(0);
    await store.write("prune", (tx) => {
      for (const runId of ids) tx.put.prunedRun(runId);
    });
    expect(store.sizes().freeBytes).toBeGreaterThan(10 * LARGE.length);
  });

  test("shrink again after a reader has pinned the WAL for a while", async () => {
    const { store, path } = openTestStore();
    const reader = new Database(path, { readonly: true });
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM runs").get();
    await fill(store, 250);
    expect(store.sizes().walBytes).toBeGreaterThan(20 * 1024 * 1024);
    reader.close();
    store.maintain();
    await fill(store, 1);
    expect(store.sizes().walBytes).toBeLessThanOrEqual(16 * 1024 * 1024);
  });
});

describe("maintenance", () => {
  test("gives back the room of pruned runs", async () => {
    const { store } = openTestStore();
    const ids = await fill(store, 60);
    store.maintain();
    await store.write("idle", () => undefined);
    const before = store.sizes().databaseBytes;
    await store.write("prune", (tx) => {
      for (const runId of ids) tx.put.prunedRun(runId);
    });
    for (let turn = 0; turn < 10; turn += 1) {
      store.maintain();
      await store.write("idle", () => undefined);
    }
    expect(store.sizes().databaseBytes).toBeLessThan(before / 4);
  });

  test("does nothing while writes wait", async () => {
    const { store, lines } = openTestStore();
    const write = store.write("admit", (tx) => putRun(tx));
    store.maintain();
    await expect(write).resolves.toMatchObject({ position: 1 });
    expect(lines).toEqual([]);
  });

  test("is put off by a foreign lock, and nobody hears of it but the log", async () => {
    const { store, path, lines, clock } = openTestStore();
    const ids = await fill(store, 5);
    await store.write("prune", (tx) => tx.put.prunedRun(ids[0] ?? ""));
    const other = new Database(path, { timeout: 0 });
    onTestFinished(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    store.maintain();
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    other.exec("ROLLBACK");
    clock.advance(250);
    await store.write("go on", (tx) => putRun(tx));
    expect(lines.map((line) => line.level)).toContain("warn");
    expect(lines.map((line) => line.level)).not.toContain("error");
  });
});
