import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  chmodSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../src/host/store/open-database.ts";
import { readSchema } from "../../src/host/store/schema.ts";
import { StoreRefusedError } from "../../src/host/store/store-refused-error.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { putRun } from "../support/records.ts";
import { openTestStore, temporaryFolder } from "../support/test-store.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/databases");

/** Every file of a folder with its size, mode, time and content. */
function snapshot(folder: string): readonly string[] {
  return readdirSync(folder).map((name) => {
    const path = join(folder, name);
    const { size, mode, mtimeMs } = statSync(path);
    return [name, size, mode, mtimeMs, sha256Hex(readFileSync(path))].join(" ");
  });
}

function refusal(path: string): StoreRefusedError {
  try {
    openTestStore({ path });
  } catch (error) {
    if (error instanceof StoreRefusedError) return error;
    throw error;
  }
  throw new Error(`${path} was opened`);
}

/** Builds a database from a text of the fixtures, in a folder of its own. */
function fixture(name: string): { readonly folder: string; readonly path: string } {
  const folder = temporaryFolder();
  const path = join(folder, "host.db");
  const db = new Database(path);
  db.exec(readFileSync(join(FIXTURES, `${name}.sql`), "utf8"));
  db.close();
  return { folder, path };
}

describe("a database that is not ours to open", () => {
  test.each([
    ["foreign", "foreign", "is the database of another program"],
    ["newer", "other_schema", "was written by a newer version"],
    ["older", "other_schema", "was written by an older version"],
    ["other-tables", "other_schema", "by another build of pi-workflows with other tables"],
  ])("is refused and stays as it is: %s", (name, why, words) => {
    const { folder, path } = fixture(name);
    const before = snapshot(folder);
    const error = refusal(path);
    expect(error.refusal).toBe(why);
    expect(error.message).toContain(words);
    expect(snapshot(folder)).toEqual(before);
  });

  test("is refused unchanged also when its last writer died and left a WAL", () => {
    const { folder, path } = fixture("other-tables");
    const script = `
      const db = new (require("better-sqlite3"))(${JSON.stringify(path)});
      db.exec("INSERT INTO runs VALUES ('unsaved')");
      process.kill(process.pid, "SIGKILL");`;
    spawnSync(process.execPath, ["-e", script], { cwd: import.meta.dirname });
    const data = (): readonly string[] =>
      snapshot(folder).filter((line) => !line.startsWith("host.db-shm"));
    const before = data();
    expect(before.some((line) => line.startsWith("host.db-wal"))).toBe(true);
    expect(refusal(path).refusal).toBe("other_schema");
    expect(data()).toEqual(before);
  });

  test("is told by its path, with how to keep it and how to begin anew", () => {
    const { path } = fixture("newer");
    const { message } = refusal(path);
    expect(message).toContain(path);
    expect(message).toContain(`${path}-wal`);
    expect(message).toMatch(/To keep it/);
    expect(message).toMatch(/to start with an empty store, move/);
  });
});

describe("a file that is no database", () => {
  const contents: Readonly<Record<string, Buffer>> = {
    "a text": Buffer.from("hello\n"),
    "a longer text": Buffer.from("hello\n".repeat(1_000)),
    zeros: Buffer.alloc(8_192),
  };

  test.each(Object.entries(contents))("is refused and stays as it is: %s", (_name, content) => {
    const folder = temporaryFolder();
    const path = join(folder, "host.db");
    writeFileSync(path, content);
    const before = snapshot(folder);
    expect(refusal(path).refusal).toBe("foreign");
    expect(snapshot(folder)).toEqual(before);
  });

  test("is refused when it is a folder or a link", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "folder.db"));
    symlinkSync(join(folder, "elsewhere"), join(folder, "link.db"));
    expect(refusal(join(folder, "folder.db")).message).toContain("is not a regular file");
    expect(refusal(join(folder, "link.db")).message).toContain("is not a regular file");
    expect(readdirSync(folder).toSorted()).toEqual(["folder.db", "link.db"]);
  });
});

describe("a damaged database", () => {
  /** A closed store with one run in it. */
  async function closedStore(): Promise<{ readonly folder: string; readonly path: string }> {
    const folder = temporaryFolder();
    const path = join(folder, "host.db");
    const { store } = openTestStore({ path });
    await store.write("admit", (tx) => putRun(tx));
    store.close();
    return { folder, path };
  }

  function overwrite(path: string, page: number): void {
    const bytes = readFileSync(path);
    bytes.fill(0xa5, (page - 1) * 4096, page * 4096);
    writeFileSync(path, bytes);
  }

  test.each([2, 3, 4, 20])("is recognised by page %i and preserved", async (page) => {
    const { folder, path } = await closedStore();
    overwrite(path, page);
    const before = snapshot(folder);
    const error = refusal(path);
    expect(error.refusal).toBe("damaged");
    expect(error.message).toContain("is damaged");
    expect(snapshot(folder)).toEqual(before);
  });

  test("is recognised when its end is missing", async () => {
    const { folder, path } = await closedStore();
    truncateSync(path, 3 * 4096);
    const before = snapshot(folder);
    expect(refusal(path).refusal).toBe("damaged");
    expect(snapshot(folder)).toEqual(before);
  });
});

describe("a new store", () => {
  test("is made for its owner alone, whatever the umask", () => {
    const before = process.umask(0o000);
    try {
      const { path } = openTestStore();
      for (const suffix of ["", "-wal", "-shm"])
        expect((statSync(path + suffix).mode & 0o777).toString(8)).toBe("600");
    } finally {
      process.umask(before);
    }
  });

  test("keeps its identity and content over a restart", async () => {
    const first = openTestStore();
    await first.store.write("admit", (tx) => putRun(tx, { runId: "run_a" }));
    first.store.close();
    chmodSync(first.path, 0o644);
    const second = openTestStore({ path: first.path });
    expect(second.store.storeId).toBe(first.store.storeId);
    expect(second.store.storeId).toMatch(/^str_/);
    expect(second.store.reader.runs.get("run_a")).toBeDefined();
    expect((statSync(first.path).mode & 0o777).toString(8)).toBe("600");
    expect(openTestStore().store.storeId).not.toBe(first.store.storeId);
  });

  test("is made where a host died before it had made any table", () => {
    const path = join(temporaryFolder(), "host.db");
    writeFileSync(path, "");
    const { store } = openTestStore({ path });
    expect(store.storeId).toMatch(/^str_/);
  });

  test("is made anew beside what a start left that did not come to its end", () => {
    const path = join(temporaryFolder(), "host.db");
    for (const suffix of [".new", ".new-journal", "-wal", "-shm"])
      writeFileSync(path + suffix, "x");
    const { store } = openTestStore({ path });
    expect(store.storeId).toMatch(/^str_/);
    store.close();
    expect(readdirSync(dirname(path))).toEqual(["host.db"]);
  });

  test.each([
    ["commit.before", ["first"]],
    ["commit.after", ["second", "first"]],
  ])("comes up whole after its host was killed at %s", (point, titles) => {
    const path = join(temporaryFolder(), "host.db");
    const program = join(import.meta.dirname, "../fixtures/children/store-writer.ts");
    const child = spawnSync(process.execPath, [program, path, "first", "second"], {
      env: { ...process.env, PI_WORKFLOWS_CRASH: `${point}:second` },
      encoding: "utf8",
    });
    expect({ signal: child.signal, acknowledged: child.stdout }).toEqual({
      signal: "SIGKILL",
      acknowledged: "first\n",
    });
    const { store } = openTestStore({ path });
    expect(store.reader.runs.page({ limit: 9 }).map((run) => run.title)).toEqual(titles);
    expect(store.reader.events.lastPosition()).toBe(titles.length);
  });
});

describe("the connection", () => {
  test.each([
    ["FULL", 2],
    ["NORMAL", 1],
  ] as const)("has the promised settings with synchronous %s", (synchronous, level) => {
    const path = join(temporaryFolder(), "host.db");
    const db = openDatabase({ path, schema: readSchema(), synchronous });
    const settings = (name: string): unknown => db.pragma(name, { simple: true });
    expect(settings("journal_mode")).toBe("wal");
    expect(settings("synchronous")).toBe(level);
    expect(settings("foreign_keys")).toBe(1);
    expect(settings("busy_timeout")).toBe(0);
    expect(settings("auto_vacuum")).toBe(2);
    expect(settings("wal_autocheckpoint")).toBe(1000);
    expect(settings("journal_size_limit")).toBe(16 * 1024 * 1024);
    db.close();
  });

  test("is FULL unless somebody asks otherwise, and the digest is of the statements alone", () => {
    const { ddl, digest } = readSchema();
    const path = join(temporaryFolder(), "host.db");
    openTestStore({ path }).store.close();
    const db = new Database(path, { readonly: true });
    const stored = db.prepare("SELECT value FROM meta WHERE key = 'ddl_digest'").pluck().get();
    db.close();
    expect(stored).toBe(digest);
    expect(ddl).toContain("--");
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
  });
});
