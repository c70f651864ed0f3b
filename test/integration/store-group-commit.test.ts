import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/host/errors.ts";
import { BATCH_WRITES_MAX } from "../../src/host/limits.ts";
import type { Store, StoreChange } from "../../src/host/store/store.ts";
import type { Tx } from "../../src/host/store/tx.ts";
import { attemptRecord, claimRecord, eventRecord, putRun } from "../support/records.ts";
import { openTestStore } from "../support/test-store.ts";

/** The outcomes of all writes, in order, each by its value or its error in words. */
async function outcomes(writes: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const settled = await Promise.allSettled(writes);
  return settled.map((one) => (one.status === "fulfilled" ? one.value : String(one.reason)));
}

const admit =
  (title: string) =>
  (tx: Tx): string =>
    putRun(tx, { title }).title;

function titles(store: Store): readonly string[] {
  return store.reader.runs.page({ limit: 500 }).map((run) => run.title);
}

describe("writes of one turn of the loop", () => {
  test("share one COMMIT, in their order", async () => {
    const crashes: string[] = [];
    const { store } = openTestStore({ crash: (name, write) => crashes.push(`${name}:${write}`) });
    const done = await outcomes([store.write("one", admit("a")), store.write("two", admit("b"))]);
    expect(done).toEqual(["a", "b"]);
    expect(titles(store)).toEqual(["b", "a"]);
    expect(crashes).toEqual([
      "commit.before:one",
      "commit.before:two",
      "commit.after:one",
      "commit.after:two",
    ]);
  });

  test("see what those before them wrote", async () => {
    const { store } = openTestStore();
    const seen = await Promise.all([
      store.write("one", (tx) => putRun(tx).position),
      store.write("two", (tx) => tx.runs.lastPosition()),
    ]);
    expect(seen).toEqual([1, 1]);
  });

  test("beyond the size of a batch wait for the next", async () => {
    const commits: string[] = [];
    const { store } = openTestStore({ crash: (name) => commits.push(name) });
    const writes = Array.from({ length: BATCH_WRITES_MAX + 1 }, (_, index) =>
      store.write("admit", admit(String(index))),
    );
    await Promise.all(writes);
    expect(commits.lastIndexOf("commit.before")).toBeGreaterThan(commits.indexOf("commit.after"));
    expect(titles(store)).toHaveLength(BATCH_WRITES_MAX + 1);
  });

  test("are not visible to another reader before COMMIT", async () => {
    let seen: unknown;
    const opened = openTestStore({
      crash(name) {
        if (name !== "commit.before") return;
        const other = new Database(opened.path, { readonly: true });
        seen = other.prepare("SELECT count(*) FROM runs").pluck().get();
        other.close();
      },
    });
    await opened.store.write("admit", admit("a"));
    expect(seen).toBe(0);
  });
});

describe("a write that fails undoes itself and none of its neighbours", () => {
  const failures: Readonly<Record<string, (tx: Tx) => unknown>> = {
    "by a refusal": () => {
      throw new HostError("ILLEGAL_TRANSITION", "refused");
    },
    "by a fault of ours": () => {
      throw new TypeError("undefined is not a function");
    },
    "by a constraint": (tx) => tx.put.attempt(attemptRecord("run_none")),
    "by a trigger": (tx) => tx.put.event(eventRecord("run_a", { revision: 9 })),
    "by being asynchronous": () => Promise.resolve(),
  };

  test.each(Object.entries(failures))("%s", async (_how, fail) => {
    const crashes: string[] = [];
    const { store } = openTestStore({ crash: (_name, write) => crashes.push(write) });
    const after: string[] = [];
    const wrong = (tx: Tx): unknown => {
      putRun(tx, { runId: "run_a", title: "wrong" });
      tx.afterCommit(() => after.push("wrong"));
      return fail(tx);
    };
    const done = await outcomes([
      store.write("first", admit("first")),
      store.write("wrong", wrong),
      store.write("last", admit("last")),
    ]);
    expect(done).toEqual(["first", expect.any(String), "last"]);
    expect(done[1]).not.toBe("wrong");
    expect(titles(store)).toEqual(["last", "first"]);
    expect(after).toEqual([]);
    expect(crashes).not.toContain("wrong");
    expect(store.stalled).toBe(false);
  });
});

describe("after COMMIT", () => {
  test("lists run in order, then subscribers hear, then writers are answered", async () => {
    const { store } = openTestStore();
    const heard: string[] = [];
    store.subscribe(() => heard.push("subscriber"));
    const write = (name: string): Promise<unknown> =>
      store.write(name, (tx) => {
        tx.afterCommit(() => heard.push(`${name} 1`));
        tx.afterCommit(() => heard.push(`${name} 2`));
        putRun(tx);
      });
    await Promise.all([
      write("a").then(() => heard.push("a answered")),
      write("b").then(() => heard.push("b answered")),
    ]);
    expect(heard).toEqual(["a 1", "a 2", "b 1", "b 2", "subscriber", "a answered", "b answered"]);
  });

  test("a list that throws spoils nothing", async () => {
    const { store, lines } = openTestStore();
    const heard: string[] = [];
    store.subscribe(() => {
      throw new Error("deaf");
    });
    store.subscribe(() => heard.push("subscriber"));
    await store.write("a", (tx) => {
      tx.afterCommit(() => {
        throw new Error("broken");
      });
      tx.afterCommit(() => heard.push("second"));
      putRun(tx);
    });
    expect(heard).toEqual(["second", "subscriber"]);
    expect(lines.map((line) => line.event)).toEqual([
      "store.after_commit_failed",
      "store.subscriber_failed",
    ]);
  });

  test("a subscriber hears which runs changed, and nothing once it has gone", async () => {
    const { store } = openTestStore();
    const changes: StoreChange[] = [];
    const leave = store.subscribe((change) => changes.push(change));
    await Promise.all([
      store.write("a", (tx) => putRun(tx, { runId: "run_a" })),
      store.write("b", (tx) => putRun(tx, { runId: "run_b" })),
    ]);
    await store.write("quiet", (tx) => tx.put.runChange("run_a", { noProgress: 1 }));
    await store.write("progress", (tx) =>
      tx.put.progress({ runId: "run_b", node: "draft", text: "10 %", at: 1 }),
    );
    leave();
    await store.write("c", (tx) => putRun(tx));
    expect(changes).toEqual([
      { runIds: ["run_a", "run_b"], turnedRunIds: ["run_a", "run_b"], sessionIds: [] },
      { runIds: ["run_b"], turnedRunIds: [], sessionIds: [] },
    ]);
  });

  test("a subscriber is told which runs did more than go a step on", async () => {
    const { store } = openTestStore();
    const { runId } = await store.write("admit", (tx) => putRun(tx));
    const turned: string[] = [];
    store.subscribe(({ turnedRunIds }) => {
      if (turnedRunIds.includes(runId)) turned.push(kind);
    });
    let kind = "";
    let revision = 1;
    const change = async (name: string, body: (tx: Tx) => void): Promise<void> => {
      kind = name;
      revision += 1;
      await store.write(name, (tx) => {
        body(tx);
        tx.put.event(eventRecord(runId, { revision, kind }));
      });
    };
    await change("launch", (tx) => tx.put.claim(claimRecord(runId)));
    await change("attach", (tx) => tx.put.runChange(runId, { status: "running" }));
    await change("advance", (tx) => {
      tx.put.runChange(runId, { status: "running", boundary: 1 });
      tx.put.claimChange(runId, 1, { heartbeat: 1, lastNumber: 1, lastAnswer: "{}" });
    });
    await change("wait", (tx) => tx.put.runChange(runId, { status: "waiting" }));
    await change("taken away", (tx) => tx.put.claimChange(runId, 1, { released: true }));
    expect(turned).toEqual(["launch", "wait", "taken away"]);
  });
});

describe("a transaction handed to a body", () => {
  test("is of no use once the body has ended", async () => {
    const { store } = openTestStore();
    const leaked = await store.write("leak", (tx) => ({ tx }));
    expect(() => putRun(leaked.tx)).toThrow("outside the body");
    expect(() => leaked.tx.afterCommit(() => {})).toThrow("outside the body");
    expect(titles(store)).toEqual([]);
  });
});

describe("a store that closes", () => {
  test("first writes what was handed to it and then refuses", async () => {
    const { store, path } = openTestStore();
    const last = store.write("last", admit("last"));
    store.close();
    store.close();
    await expect(last).resolves.toBe("last");
    await expect(store.write("late", admit("late"))).rejects.toMatchObject({
      reason: "HOST_STOPPING",
    });
    expect(titles(openTestStore({ path }).store)).toEqual(["last"]);
  });
});
