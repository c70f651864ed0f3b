import { describe, expect, test } from "vitest";
import type { RunFilter } from "../../src/host/store/tx.ts";
import { putRun, putRunning, runRecord, GRAPH, eventRecord } from "../support/records.ts";
import { openTestStore } from "../support/test-store.ts";

describe("a run's row", () => {
  test("comes back as it was put, with every field that a run can have", async () => {
    const { store } = openTestStore();
    const run = runRecord({
      status: "blocked",
      blockReason: "no_progress",
      detail: "three workers died",
      revision: 7,
      boundary: 4,
      generation: 3,
      priority: -5,
      availableAt: 99,
      visit: 2,
      steps: 5,
      routing: true,
      activation: "verdict",
      useRecorded: true,
      noProgress: 3,
      error: { name: "Error", message: "no", stack: "at x" },
      changedFiles: ["a.ts", "b.ts"],
      result: { json: "null" },
      restartedFrom: "run_other",
    });
    await store.write("put", (tx) => tx.put.run(run, GRAPH));
    expect(store.reader.runs.get(run.runId)).toEqual(run);
    expect(store.reader.runs.graph(run.runId)).toEqual(GRAPH);
  });

  test("keeps absent what is absent", async () => {
    const { store } = openTestStore();
    const run = await store.write("put", (tx) => putRun(tx));
    expect(store.reader.runs.get(run.runId)).toStrictEqual(run);
    expect(store.reader.runs.get("run_none")).toBeUndefined();
    expect(() => store.reader.runs.graph("run_none")).toThrow("run_none");
  });

  test("changes in the named fields alone, and undefined clears one", async () => {
    const { store } = openTestStore();
    const run = await store.write("put", (tx) =>
      putRun(tx, { status: "blocked", blockReason: "no_progress", detail: "x" }),
    );
    await store.write("change", (tx) =>
      tx.put.runChange(run.runId, {
        status: "queued",
        blockReason: undefined,
        detail: undefined,
        noProgress: 0,
        pauseRequested: false,
        result: { json: "[]" },
      }),
    );
    const { blockReason: _reason, detail: _detail, ...rest } = run;
    expect(store.reader.runs.get(run.runId)).toStrictEqual({
      ...rest,
      status: "queued",
      result: { json: "[]" },
    });
  });

  test("takes another graph", async () => {
    const { store } = openTestStore();
    const run = await store.write("put", (tx) => putRun(tx));
    await store.write("graph", (tx) =>
      tx.put.graph(run.runId, { ...GRAPH, maxSteps: 7 }, "other digest"),
    );
    expect(store.reader.runs.graph(run.runId).maxSteps).toBe(7);
    expect(store.reader.runs.get(run.runId)?.graphDigest).toBe("other digest");
  });

  test("that does not exist cannot be changed", async () => {
    const { store } = openTestStore();
    await expect(
      store.write("change", (tx) => tx.put.runChange("run_none", { noProgress: 1 })),
    ).rejects.toThrow("run_none");
    await expect(
      store.write("graph", (tx) => tx.put.graph("run_none", GRAPH, "x")),
    ).rejects.toThrow("run_none");
  });
});

describe("the queue", () => {
  test("is what is queued and due, by priority, then due time, then admission", async () => {
    const { store } = openTestStore();
    await store.write("put", (tx) => {
      putRun(tx, { title: "later", availableAt: 20 });
      putRun(tx, { title: "second", availableAt: 5 });
      putRun(tx, { title: "third", availableAt: 5 });
      putRun(tx, { title: "first", priority: 1, availableAt: 10 });
      putRun(tx, { title: "waits", status: "waiting" });
    });
    const titles = (now: number, limit = 10): string[] =>
      store.reader.runs.queued(now, limit).map((run) => run.title);
    expect(titles(10)).toEqual(["first", "second", "third"]);
    expect(titles(20)).toEqual(["first", "second", "third", "later"]);
    expect(titles(20, 2)).toEqual(["first", "second"]);
    expect(titles(20, 0)).toEqual([]);
    expect(store.reader.runs.nextAvailableAt(10)).toBe(20);
    expect(store.reader.runs.nextAvailableAt(20)).toBeUndefined();
  });
});

describe("the queue beside some projects", () => {
  test("is what is due in the others", async () => {
    const { store } = openTestStore();
    await store.write("put", (tx) => {
      for (const projectDir of ["/a", "/b", "/a", "/c"]) putRun(tx, { projectDir });
    });
    const places = (projects: readonly string[], limit = 9): string[] =>
      store.reader.runs.queuedElsewhere(0, projects, limit).map((run) => run.projectDir);
    expect(places(["/a"])).toEqual(["/b", "/c"]);
    expect(places([], 2)).toEqual(["/a", "/b"]);
    expect(places(["/a", "/b", "/c"])).toEqual([]);
  });
});

describe("lists of runs", () => {
  test("are newest first, filtered and paged", async () => {
    const { store } = openTestStore();
    await store.write("put", (tx) => {
      putRun(tx, { title: "one" });
      putRun(tx, { title: "two", workflow: "other", status: "waiting" });
      putRun(tx, { title: "three", projectDir: "/elsewhere" });
      putRun(tx, { title: "four", status: "completed", finishedAt: 10 });
    });
    const titles = (filter: Partial<RunFilter>): string[] =>
      store.reader.runs.page({ limit: 10, ...filter }).map((run) => run.title);
    expect(titles({})).toEqual(["four", "three", "two", "one"]);
    expect(titles({ limit: 2 })).toEqual(["four", "three"]);
    expect(titles({ before: 3 })).toEqual(["two", "one"]);
    expect(titles({ workflow: "other" })).toEqual(["two"]);
    expect(titles({ projectDir: "/elsewhere" })).toEqual(["three"]);
    expect(titles({ statuses: ["waiting", "completed"] })).toEqual(["four", "two"]);
    expect(titles({ statuses: [] })).toHaveLength(4);
    expect(titles({ statuses: ["queued"], projectDir: "/project", before: 3 })).toEqual(["one"]);
  });

  test("count by status and go by status in order of admission", async () => {
    const { store } = openTestStore();
    const runs = await store.write("put", (tx) => [putRun(tx), putRun(tx), putRun(tx)]);
    const { runs: reader } = store.reader;
    expect(reader.countByStatus()).toEqual([{ status: "queued", count: 3 }]);
    expect(reader.withStatus("queued", 1, 1).map((run) => run.runId)).toEqual([runs[1]?.runId]);
    expect(reader.withStatus("paused", 0, 10)).toEqual([]);
    expect(reader.lastPosition()).toBe(3);
  });

  test("by prefix of the id hold what begins with it and nothing else", async () => {
    const { store } = openTestStore();
    await store.write("put", (tx) => {
      for (const runId of ["run_abcd1", "run_abcd2", "run_abce1", "run_zzzz1"])
        putRun(tx, { runId });
    });
    const { runs } = store.reader;
    expect(runs.idsByPrefix("run_abcd", 10)).toEqual(["run_abcd1", "run_abcd2"]);
    expect(runs.idsByPrefix("run_abc", 2)).toEqual(["run_abcd1", "run_abcd2"]);
    expect(runs.idsByPrefix("run_z", 10)).toEqual(["run_zzzz1"]);
    expect(runs.idsByPrefix("run_ab%", 10)).toEqual([]);
  });

  test("by suffix of the id hold what ends with it and nothing else", async () => {
    const { store } = openTestStore();
    await store.write("put", (tx) => {
      for (const runId of ["run_1abcd", "run_2abcd", "run_3bbcd"]) putRun(tx, { runId });
    });
    const { runs } = store.reader;
    expect(runs.idsBySuffix("abcd", 10)).toEqual(["run_1abcd", "run_2abcd"]);
    expect(runs.idsBySuffix("bcd", 2)).toEqual(["run_1abcd", "run_2abcd"]);
    expect(runs.idsBySuffix("3bbcd", 10)).toEqual(["run_3bbcd"]);
    expect(runs.idsBySuffix("%bcd", 10)).toEqual([]);
    expect(runs.idsBySuffix("", 10)).toEqual([]);
  });

  test("of ended runs go by their end, and only queued, starting and running ones are active", async () => {
    const { store } = openTestStore();
    expect(store.reader.runs.hasActive()).toBe(false);
    await store.write("put", (tx) => {
      putRun(tx, { title: "b", status: "failed", finishedAt: 20 });
      putRun(tx, { title: "a", status: "completed", finishedAt: 10 });
      putRun(tx, { title: "c", status: "cancelled", finishedAt: 30 });
      putRun(tx, { status: "waiting" });
    });
    expect(store.reader.runs.finishedBefore(30, 10).map((run) => run.title)).toEqual(["a", "b"]);
    expect(store.reader.runs.finishedBefore(31, 1).map((run) => run.title)).toEqual(["a"]);
    expect(store.reader.runs.hasActive()).toBe(false);
    await store.write("put", (tx) => putRunning(tx));
    expect(store.reader.runs.hasActive()).toBe(true);
  });
});

describe("events", () => {
  test("have positions of the store and are read in pages", async () => {
    const { store } = openTestStore();
    expect(store.reader.events.lastPosition()).toBe(0);
    const [one, two] = await store.write("put", (tx) => [putRun(tx), putRun(tx)]);
    const [runId, other] = [one?.runId ?? "", two?.runId ?? ""];
    await store.write("event", (tx) => {
      tx.put.event(eventRecord(runId, { revision: 2, kind: "launch", node: "draft", at: 5 }));
      tx.put.event(eventRecord(runId, { revision: 3, kind: "attach", data: { generation: 1 } }));
    });
    expect(store.reader.events.ofRun(runId, 1, 10)).toEqual([
      { position: 3, runId, revision: 2, kind: "launch", at: 5, node: "draft", data: {} },
      { position: 4, runId, revision: 3, kind: "attach", at: 1, data: { generation: 1 } },
    ]);
    expect(store.reader.events.ofRun(runId, 0, 1).map((event) => event.revision)).toEqual([1]);
    expect(store.reader.events.lastPosition()).toBe(4);
    expect(store.reader.events.tally(runId)).toEqual({ count: 3, last: 3 });
    expect(store.reader.events.tally("run_none")).toEqual({ count: 0, last: 0 });
    expect(store.reader.events.changedRuns(0, 10)).toEqual([
      { runId: other, position: 2 },
      { runId, position: 4 },
    ]);
    expect(store.reader.events.changedRuns(2, 10)).toEqual([{ runId, position: 4 }]);
  });
});
