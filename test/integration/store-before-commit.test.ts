/** What is written because of what is about to be committed shares the COMMIT, and its fate. */
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { Store } from "../../src/host/store/store.ts";
import { putRun } from "../support/records.ts";
import { openTestStore } from "../support/test-store.ts";

/** Answers each new run by a write of its own, once; returns what became of those. */
function echoing(store: Store): Promise<unknown>[] {
  const answers: Promise<unknown>[] = [];
  store.beforeCommit(({ runIds }) => {
    for (const runId of runIds) {
      if (store.reader.runs.get(runId)?.title !== "asks") continue;
      answers.push(
        store.write("echo", (tx) => {
          tx.put.runChange(runId, { title: "answered" });
          return tx.runs.get(runId)?.title;
        }),
      );
    }
  });
  return answers;
}

test("a write made before COMMIT shares it, and is answered after it", async () => {
  const points: string[] = [];
  const { store } = openTestStore({ crash: (name, write) => points.push(`${name}:${write}`) });
  const answers = echoing(store);
  const { runId } = await store.write("admit", (tx) => putRun(tx, { title: "asks" }));
  expect(points).toEqual([
    "commit.before:admit",
    "commit.before:echo",
    "commit.after:admit",
    "commit.after:echo",
  ]);
  expect(await Promise.all(answers)).toEqual(["answered"]);
  expect(store.reader.runs.get(runId)?.title).toBe("answered");
});

test("a refusal of what joined undoes that alone", async () => {
  const { store } = openTestStore();
  const joined: Promise<unknown>[] = [];
  const leave = store.beforeCommit(() => {
    joined.push(
      store.write("joins", (tx) => {
        putRun(tx, { title: "wrong" });
        throw new Error("refused");
      }),
    );
  });
  await store.write("admit", (tx) => putRun(tx, { title: "kept" }));
  await expect(joined[0]).rejects.toThrow("refused");
  expect(store.reader.runs.page({ limit: 9 }).map((run) => run.title)).toEqual(["kept"]);
  leave();
  await store.write("admit", (tx) => putRun(tx));
  expect(joined).toHaveLength(1);
});

test("a listener that throws spoils nothing", async () => {
  const { store, lines } = openTestStore();
  store.beforeCommit(() => {
    throw new Error("deaf");
  });
  await store.write("admit", (tx) => putRun(tx, { title: "kept" }));
  expect(store.reader.runs.lastPosition()).toBe(1);
  expect(lines.map((line) => line.event)).toEqual(["store.before_commit_failed"]);
});

test("nobody is asked about a write that changed nothing to be seen", async () => {
  const { store } = openTestStore();
  let asked = 0;
  store.beforeCommit(() => {
    asked += 1;
  });
  await store.write("nothing", () => undefined);
  expect(asked).toBe(0);
});

test("what joined waits with the others for a lock, and is written once", async () => {
  const { store, path, clock } = openTestStore();
  const answers = echoing(store);
  const locker = new Database(path);
  locker.exec("BEGIN IMMEDIATE");
  const admitted = store.write("admit", (tx) => putRun(tx, { title: "asks" }));
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  expect(answers).toEqual([]);
  locker.exec("ROLLBACK");
  locker.close();
  clock.advance(1_000);
  const { runId } = await admitted;
  expect(await Promise.all(answers)).toEqual(["answered"]);
  expect(store.reader.runs.get(runId)?.title).toBe("answered");
});
