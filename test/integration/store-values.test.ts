import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { INLINE_VALUE_BYTES_MAX } from "../../src/host/limits.ts";
import type { RunRecord, SourceWithContent, ValueRef } from "../../src/host/records.ts";
import type { Store } from "../../src/host/store/store.ts";
import type { Tx } from "../../src/host/store/tx.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import {
  attemptRecord,
  commandRecord,
  effectRecord,
  interactionRecord,
  putRun,
} from "../support/records.ts";
import { openTestStore } from "../support/test-store.ts";

const large = (letter: string): string => JSON.stringify(letter.repeat(INLINE_VALUE_BYTES_MAX));

function blobs(path: string): readonly string[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare<[], string>("SELECT digest FROM blobs ORDER BY digest").pluck().all();
  } finally {
    db.close();
  }
}

function put(store: Store, text: string): Promise<ValueRef> {
  return store.write("value", (tx) => tx.put.value(text));
}

describe("a value", () => {
  test("of up to 8 KiB in UTF-8 lies in its row, and a larger one in a blob", async () => {
    const { store, path } = openTestStore();
    const fits = "ä".repeat(INLINE_VALUE_BYTES_MAX / 2);
    expect(await put(store, fits)).toEqual({ json: fits });
    const tooLong = `${fits}.`;
    expect(await put(store, tooLong)).toEqual({ blob: sha256Hex(tooLong) });
    expect(store.reader.values.read({ blob: sha256Hex(tooLong) })).toBe(tooLong);
    expect(blobs(path)).toEqual([sha256Hex(tooLong)]);
  });

  test("is stored once however often it is put", async () => {
    const { store, path } = openTestStore();
    const [first, second] = await Promise.all([put(store, large("a")), put(store, large("a"))]);
    expect(first).toEqual(second);
    expect(blobs(path)).toHaveLength(1);
  });

  test("comes back whole in every row that may hold one", async () => {
    const { store } = openTestStore();
    const run = await store.write("put", (tx) => putLargeRun(tx));
    const { reader } = store;
    const refs = [
      reader.runs.get(run.runId)?.input,
      reader.runs.get(run.runId)?.result,
      reader.attempts.newest(run.runId)?.output,
      reader.interactions.page({ includeClosed: true, limit: 1 })[0]?.request,
      reader.interactions.page({ includeClosed: true, limit: 1 })[0]?.schema,
      reader.interactions.page({ includeClosed: true, limit: 1 })[0]?.answer,
      reader.effects.ofRun(run.runId)[0]?.receipt,
    ];
    const texts = refs.map((ref) => (ref === undefined ? undefined : reader.values.read(ref)));
    expect(texts).toEqual(["i", "r", "o", "q", "s", "a", "e"].map(large));
  });

  test("whose bytes were changed on the disk is not believed", async () => {
    const { store, path } = openTestStore();
    const ref = await put(store, large("a"));
    const db = new Database(path);
    db.prepare("UPDATE blobs SET bytes = ?").run(Buffer.from(large("b")));
    db.close();
    expect(() => store.reader.values.read(ref)).toThrow("is damaged");
    expect(() => store.reader.values.bytes(sha256Hex(large("a")))).toThrow("is damaged");
  });

  test("that is missing is an error, not an empty one", () => {
    const { store } = openTestStore();
    const ref = { blob: "f".repeat(64) };
    expect(() => store.reader.values.read(ref)).toThrow("is missing");
    expect(() => store.reader.values.head(ref, 10)).toThrow("is missing");
    expect(store.reader.values.bytes(ref.blob)).toBeUndefined();
  });
});

describe("the head of a value", () => {
  test.each([
    { what: "short", text: "abc", chars: 10, head: "abc", whole: true },
    { what: "cut", text: "abcdef", chars: 3, head: "abc", whole: false },
    { what: "exactly as long", text: "abc", chars: 3, head: "abc", whole: true },
    { what: "cut in the middle of a pair", text: "ab😀cd", chars: 3, head: "ab", whole: false },
    { what: "cut after a pair", text: "ab😀cd", chars: 4, head: "ab😀", whole: false },
  ])("is $what", async ({ text, chars, head, whole }) => {
    const { store } = openTestStore();
    expect(store.reader.values.head({ json: text }, chars)).toEqual({ text: head, whole });
    // The same of a blob, made long by spaces behind.
    const ref = await put(store, text.padEnd(INLINE_VALUE_BYTES_MAX + 1));
    const expected = text.length > chars ? head : text.padEnd(chars);
    expect(store.reader.values.head(ref, chars)).toEqual({ text: expected, whole: false });
  });

  test("of a blob that is asked for whole is whole", async () => {
    const { store } = openTestStore();
    const text = "漢".repeat(INLINE_VALUE_BYTES_MAX);
    const ref = await put(store, text);
    expect(store.reader.values.head(ref, text.length)).toEqual({ text, whole: true });
    expect(store.reader.values.head(ref, 5)).toEqual({ text: "漢".repeat(5), whole: false });
  });
});

describe("the sources of a run", () => {
  const content = Buffer.from("export const a = 1;\n");
  const file: SourceWithContent = {
    path: "/project/a.ts",
    kind: "file",
    digest: sha256Hex(content),
    size: content.length,
    content,
  };
  const pack: SourceWithContent = {
    path: "/project/node_modules/yaml",
    kind: "package",
    size: 0,
    packageName: "yaml",
    packageVersion: "2.0.0",
  };

  test("keep their bytes, and the newest report of a path", async () => {
    const { store } = openTestStore();
    const { runId } = await store.write("put", (tx) => putRun(tx));
    await store.write("sources", (tx) => {
      tx.put.source(runId, pack);
      tx.put.source(runId, file);
      tx.put.source(runId, { ...pack, packageVersion: "3.0.0" });
    });
    const { content: _content, ...row } = file;
    expect(store.reader.sources.ofRun(runId)).toStrictEqual([
      row,
      { ...pack, packageVersion: "3.0.0" },
    ]);
    expect(store.reader.values.bytes(file.digest ?? "")).toEqual(content);
    await store.write("drop", (tx) => tx.put.dropSources(runId));
    expect(store.reader.sources.ofRun(runId)).toEqual([]);
  });

  test("cannot claim a digest that their bytes do not have", async () => {
    const { store } = openTestStore();
    const { runId } = await store.write("put", (tx) => putRun(tx));
    const wrong = { ...file, digest: sha256Hex("something else") };
    const written = store.write("source", (tx) => tx.put.source(runId, wrong));
    await expect(written).rejects.toMatchObject({
      reason: "REQUEST_INVALID",
      message: expect.stringContaining("another digest") as unknown,
    });
  });
});

describe("a pruned run", () => {
  test("takes everything with it that nobody else names, and leaves its receipts", async () => {
    const { store, path } = openTestStore();
    const receipt = commandRecord();
    const run = await store.write("put", (tx) => {
      const made = putLargeRun(tx);
      tx.put.command({ ...receipt, runId: made.runId });
      putRun(tx, { input: tx.put.value(large("i")) });
      return made;
    });
    expect(blobs(path)).toHaveLength(7);
    const position = store.reader.events.lastPosition();
    await store.write("prune", (tx) => tx.put.prunedRun(run.runId));
    expect(blobs(path)).toEqual([sha256Hex(large("i"))]);
    expect(store.reader.runs.get(run.runId)).toBeUndefined();
    expect(store.reader.events.ofRun(run.runId, 0, 10)).toEqual([]);
    expect(store.reader.attempts.newest(run.runId)).toBeUndefined();
    expect(store.reader.effects.ofRun(run.runId)).toEqual([]);
    expect(store.reader.commands.get(receipt.key)?.runId).toBe(run.runId);
    expect(store.reader.events.lastPosition()).toBe(position);
  });

  test("is the only one whose events can go", async () => {
    const { store, path } = openTestStore();
    await store.write("put", (tx) => putRun(tx));
    const db = new Database(path);
    expect(() => db.exec("DELETE FROM events")).toThrow("by prune only");
    expect(() => db.exec("UPDATE events SET kind = 'other'")).toThrow("immutable");
    db.close();
  });
});

describe("the columns that name blobs", () => {
  test("all have an index, and all keep their blob from being collected", async () => {
    const { store, path } = openTestStore();
    const run = await store.write("put", (tx) => putLargeRun(tx));
    const db = new Database(path, { readonly: true });
    const columns = db
      .prepare<[], string>(
        `SELECT m.name || '.' || f."from" FROM sqlite_schema m, pragma_foreign_key_list(m.name) f
         WHERE m.type = 'table' AND f."table" = 'blobs' ORDER BY 1`,
      )
      .pluck()
      .all();
    const indexed = db
      .prepare<[], string>(
        `SELECT i.tbl_name || '.' || c.name FROM sqlite_schema i, pragma_index_info(i.name) c
         WHERE i.type = 'index' AND c.seqno = 0`,
      )
      .pluck()
      .all();
    db.close();
    expect(columns).toHaveLength(11);
    expect(columns.filter((column) => !indexed.includes(column))).toEqual([]);
    store.maintain();
    await store.write("idle", () => undefined);
    const input = store.reader.runs.get(run.runId)?.input ?? { json: "" };
    expect(store.reader.values.read(input)).toBe(large("i"));
    expect(blobs(path)).toHaveLength(7);
  });
});

describe("a blob that nothing names", () => {
  test("is collected by maintenance, and one that is named stays", async () => {
    const { store, path } = openTestStore();
    await put(store, large("x"));
    await store.write("put", (tx) => putLargeRun(tx));
    expect(blobs(path)).toHaveLength(8);
    store.maintain();
    await store.write("idle", () => undefined);
    expect(blobs(path)).toHaveLength(7);
    expect(blobs(path)).not.toContain(sha256Hex(large("x")));
  });
});

/** A completed run with a different large value in every place that may hold one. */
function putLargeRun(tx: Tx): RunRecord {
  const value = (letter: string): ValueRef => tx.put.value(large(letter));
  const run = putRun(tx, {
    status: "completed",
    finishedAt: 9,
    input: value("i"),
    result: value("r"),
  });
  const attempt = attemptRecord(run.runId, { status: "ok", finishedAt: 2, output: value("o") });
  tx.put.attempt(attempt);
  tx.put.interaction(
    interactionRecord(attempt, {
      status: "accepted",
      request: value("q"),
      schema: value("s"),
      answer: value("a"),
      answerDigest: sha256Hex(large("a")),
      closedAt: 3,
    }),
  );
  tx.put.effect(effectRecord(run.runId, { status: "applied", receipt: value("e") }));
  return run;
}
