import { describe, expect, test } from "vitest";
import { writeProgress } from "../../src/host/operations/progress.ts";
import { runDetails } from "../../src/host/operations/queries.ts";
import { admitRun } from "../../src/host/operations/runs.ts";
import type { Admission } from "../../src/host/operations/runs.ts";
import { GRAPH_NODES_MAX } from "../../src/host/limits.ts";
import { reasonOf, refusal } from "../support/refusal.ts";
import { cancel } from "../support/scenes.ts";
import { admission, HUB_GRAPH, TestRig } from "../support/test-host.ts";
import { COMPLETE, next, OK } from "../support/test-worker.ts";

function admit(rig: TestRig, change: Partial<Admission>) {
  return admitRun(rig.host, rig.asked("StartRun"), { ...admission(), ...change });
}

function queue(rig: TestRig): readonly string[] {
  return rig.reader.runs.queued(rig.at.clock.now(), 100).map((run) => run.runId);
}

describe("the queue", () => {
  test("is priority, then time, then order of admission", async () => {
    const rig = new TestRig();
    const first = await rig.admit();
    const second = await rig.admit();
    const urgent = await rig.admit({ priority: 1 });
    const idle = await rig.admit({ priority: -1 });
    rig.at.clock.advance(1);
    const later = await rig.admit();
    expect(queue(rig)).toEqual([urgent, first, second, later, idle]);
  });

  test("holds a delayed run back until its time, and a past time for now", async () => {
    const rig = new TestRig();
    const now = rig.at.clock.now();
    const delayed = await rig.admit({ notBefore: now + 999.5 });
    const past = await rig.admit({ notBefore: now - 1_000 });
    expect(queue(rig)).toEqual([past]);
    expect(rig.run(past).availableAt).toBe(now);
    rig.at.clock.advance(1_000);
    expect(queue(rig)).toEqual([past, delayed]);
  });

  test("takes a run back after its worker was lost", async () => {
    const rig = new TestRig();
    const worker = await rig.running();
    expect(queue(rig)).toEqual([]);
    await rig.lose(worker);
    expect(queue(rig)).toEqual([worker.runId]);
  });
});

describe("an admission", () => {
  test("stores the run whole, with what it comes from", async () => {
    const rig = new TestRig();
    const runId = await rig.admit({ restartedFrom: "run_old", title: "The hub" });
    expect(rig.run(runId)).toMatchObject({
      status: "queued",
      title: "The hub",
      restartedFrom: "run_old",
      node: "hub",
      visit: 1,
      steps: 1,
      revision: 1,
      boundary: 0,
      generation: 0,
      input: { json: '{"to":"end"}' },
    });
    expect(rig.reader.runs.graph(runId)).toEqual(HUB_GRAPH);
    expect(rig.reader.events.ofRun(runId, 0, 10)).toMatchObject([
      { kind: "admit", revision: 1, data: { workflow: "hub", restartedFrom: "run_old" } },
    ]);
  });

  test("is one run for twenty calls with the same key", async () => {
    const rig = new TestRig();
    const asked = rig.asked("StartRun", { key: "once" });
    const calls = Array.from({ length: 20 }, () => admitRun(rig.host, asked, admission()));
    const receipts = await Promise.all(calls);
    expect(new Set(receipts.map((receipt) => receipt.runId)).size).toBe(1);
    expect(receipts.filter((receipt) => receipt.outcome === "committed")).toHaveLength(1);
    expect(rig.reader.runs.page({ limit: 10 })).toHaveLength(1);
  });

  test.each<[string, Partial<Admission>, string | undefined]>([
    ["the highest priority", { priority: 100 }, undefined],
    ["a higher priority", { priority: 101 }, "REQUEST_INVALID"],
    ["a lower priority", { priority: -101 }, "REQUEST_INVALID"],
    ["half a priority", { priority: 0.5 }, "REQUEST_INVALID"],
    ["the longest name", { workflow: "n".repeat(256) }, undefined],
    ["a longer name", { workflow: "n".repeat(257) }, "LIMIT_EXCEEDED"],
    ["a longer title", { title: "é".repeat(129) }, "LIMIT_EXCEEDED"],
    ["the largest graph", { graph: graphOf(GRAPH_NODES_MAX) }, undefined],
    ["a larger graph", { graph: graphOf(GRAPH_NODES_MAX + 1) }, "LIMIT_EXCEEDED"],
    [
      "a larger input",
      { inputJson: JSON.stringify("x".repeat(8 * 1024 * 1024)) },
      "LIMIT_EXCEEDED",
    ],
  ])("with %s: %s", async (_what, change, reason) => {
    const rig = new TestRig();
    const outcome = await admit(rig, change).then(
      () => undefined,
      (error: { readonly reason: string }) => error.reason,
    );
    expect(outcome).toBe(reason);
    expect(rig.reader.runs.page({ limit: 10 })).toHaveLength(reason === undefined ? 1 : 0);
  });

  test("that was refused may be tried again under its key", async () => {
    const rig = new TestRig();
    const asked = rig.asked("StartRun", { key: "once" });
    const wrong = { ...admission(), priority: 999 };
    expect(await reasonOf(admitRun(rig.host, asked, wrong))).toBe("REQUEST_INVALID");
    const right = await rig.sound(admitRun(rig.host, asked, admission()));
    expect(right.outcome).toBe("committed");
  });
});

describe("progress", () => {
  test("keeps the newest of each node and is no event", async () => {
    const rig = new TestRig();
    const worker = await rig.running();
    const { runId, generation } = worker.proof;
    const { revision } = worker.run;
    for (const text of ["10 %", "20 %"]) {
      await rig.sound(writeProgress(rig.host, { runId, generation, node: "hub", text }));
    }
    await rig.sound(writeProgress(rig.host, { runId, generation, node: "end", text: "soon" }));
    const texts = rig.reader.progress.ofRun(runId).map(({ node, text }) => [node, text]);
    expect(texts).toEqual([
      ["end", "soon"],
      ["hub", "20 %"],
    ]);
    expect(worker.run.revision).toBe(revision);
  });

  test("of a generation that does not own the run is dropped", async () => {
    const rig = new TestRig();
    const worker = await rig.running();
    const { runId, generation } = worker.proof;
    await cancel(rig, runId);
    const update = { runId, generation, node: "hub", text: "still here" };
    await rig.sound(writeProgress(rig.host, update));
    await rig.sound(writeProgress(rig.host, { ...update, runId: "run_unknown" }));
    expect(rig.reader.progress.ofRun(runId)).toEqual([]);
  });

  test("is cut at its limit, never within a character", async () => {
    const rig = new TestRig();
    const worker = await rig.running();
    const { runId, generation } = worker.proof;
    const text = `x${"é".repeat(16 * 1024)}`;
    await rig.sound(writeProgress(rig.host, { runId, generation, node: "hub", text }));
    const [stored] = rig.reader.progress.ofRun(runId);
    expect(Buffer.byteLength(stored?.text ?? "")).toBe(16 * 1024 - 1);
    expect(stored?.text).toMatch(/^xé+$/);
  });
});

describe("the details of a run", () => {
  test("hold what a person wants to see of it", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    expect(runDetails(rig.host, worker.runId)).toMatchObject({
      run: { status: "running" },
      attempts: [{ node: "hub", status: "running" }],
      effects: [],
      progress: [],
      worker: { workerId: worker.proof.workerId },
    });
    await worker.advance(OK, next("ask"));
    await worker.ask({ timeoutMs: 1_000 });
    const waiting = runDetails(rig.host, worker.runId);
    expect(waiting.interaction?.summary).toBe("Ship it?");
    expect(waiting.dueAt).toBe(rig.at.clock.now() + 1_000);
  });

  test("say when it goes on by itself, and nothing when it does not", async () => {
    const rig = new TestRig();
    const notBefore = rig.at.clock.now() + 500;
    const queued = runDetails(rig.host, await rig.admit({ notBefore }));
    expect(queued.dueAt).toBe(notBefore);
    expect(queued.worker).toBeUndefined();
    const napping = await rig.running("nap");
    await napping.wait(2_000);
    expect(runDetails(rig.host, napping.runId).dueAt).toBe(rig.at.clock.now() + 2_000);
    expect(runDetails(rig.host, napping.runId).timer?.kind).toBe("wait");
    const asking = await rig.running("ask");
    await asking.ask();
    expect(runDetails(rig.host, asking.runId).dueAt).toBeUndefined();
    const ended = await rig.running("end");
    await ended.advance(OK, COMPLETE);
    expect(runDetails(rig.host, ended.runId).dueAt).toBeUndefined();
  });

  test("of a run that nobody knows are refused", async () => {
    const rig = new TestRig();
    const read = async (): Promise<unknown> => runDetails(rig.host, "run_unknown");
    expect((await refusal(read())).reason).toBe("RUN_NOT_FOUND");
  });
});

function graphOf(count: number) {
  const nodes = Array.from({ length: count }, (_, index) => ({
    path: index === 0 ? "hub" : `node-${index}`,
    kind: "compute",
  }));
  return { ...HUB_GRAPH, nodes, edges: [] };
}
