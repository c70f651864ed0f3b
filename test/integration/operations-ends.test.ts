import { describe, expect, test } from "vitest";
import { rebuildMissingResults } from "../../src/host/operations/results.ts";
import { admitRun, findRecentStart } from "../../src/host/operations/runs.ts";
import type { Admission } from "../../src/host/operations/runs.ts";
import { expectRefusal } from "../support/refusal.ts";
import { cancel } from "../support/scenes.ts";
import {
  AGENT,
  askingModel,
  deliver,
  messages,
  openSession,
  SESSION,
  shown,
  textOf,
  told,
} from "../support/session-scenes.ts";
import { admission, hubAt, TestRig } from "../support/test-host.ts";
import { COMPLETE, FAIL, OK } from "../support/test-worker.ts";
import { vandalise } from "../support/vandal.ts";

describe("the end of a run", () => {
  const ended = async (rig: TestRig, change: Partial<Admission> = {}) => {
    await openSession(rig);
    const worker = await rig.running("end", { originSession: SESSION, ...change });
    await worker.advance(OK, COMPLETE);
    return worker.runId;
  };

  test("is told its session, whose model goes on from there", async () => {
    const rig = new TestRig();
    const runId = await ended(rig);
    const [message] = messages(rig, runId);
    expect(message).toMatchObject({ kind: "result", startsTurn: true, summary: "hub: completed" });
    expect(textOf(rig, message)).toContain('"done"');
  });

  test("is a card alone where the workflow says so", async () => {
    const rig = new TestRig();
    const runId = await ended(rig, { graph: { ...hubAt("end"), result: "card" } });
    expect(messages(rig, runId)[0]?.startsTurn).toBe(false);
  });

  test("by a cancel is a card, after all that was asked is taken back", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    const turn = await deliver(rig, interactionId);
    await cancel(rig, runId, "not now");
    expect(rig.reader.turns.get(turn)?.abortReason).toContain("cancelled");
    expect(told(rig, runId)).toEqual(["step first delivered", "result first pending"]);
    const message = messages(rig, runId).at(-1);
    expect(message?.startsTurn).toBe(false);
    expect(textOf(rig, message)).toContain("Note: not now");
  });

  test("by a failure tells the error", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "end");
    await worker.advance(OK, FAIL);
    expect(textOf(rig, messages(rig, worker.runId)[0])).toContain("Error: Error: it broke");
  });

  test("shows the beginning of a long result", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "end");
    const resultJson = JSON.stringify("r".repeat(100_000));
    await worker.advance(OK, { kind: "end", outcome: "ok", resultJson });
    const text = textOf(rig, messages(rig, worker.runId)[0]);
    expect(text).toContain("The beginning of its result");
    expect(text.length).toBeLessThan(6_000);
  });

  test("of a headless run is told nowhere", async () => {
    const rig = new TestRig();
    const worker = await rig.running("end");
    await worker.advance(OK, COMPLETE);
    expect(messages(rig, worker.runId)).toEqual([]);
  });

  test("that was not told is told when a host starts, once", async () => {
    const rig = new TestRig();
    const runId = await ended(rig);
    vandalise(rig.at.path, runId, ["DELETE FROM messages WHERE run_id = $run"]);
    expect(await rebuildMissingResults(rig.host)).toBe(1);
    expect(told(rig, runId)).toEqual(["result first pending"]);
    expect(await rig.sound(rebuildMissingResults(rig.host))).toBe(0);
  });

  test("that cannot be told stays as it is, and so does the run's end", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "end");
    const resultJson = JSON.stringify("r".repeat(100_000));
    await worker.advance(OK, { kind: "end", outcome: "ok", resultJson });
    vandalise(rig.at.path, worker.runId, ["DELETE FROM messages", "DELETE FROM blobs"]);
    expect(await rebuildMissingResults(rig.host)).toBe(0);
    expect(worker.run.status).toBe("completed");
    expect(messages(rig, worker.runId)).toEqual([]);
  });
});

describe("a start from a session", () => {
  const start = (rig: TestRig, change: Partial<Admission> = {}) =>
    admitRun(rig.host, rig.asked("StartRun"), {
      ...admission(),
      originSession: SESSION,
      adoptRecent: true,
      ...change,
    });

  test("needs a session that the host has seen", async () => {
    const rig = new TestRig();
    const { message } = await expectRefusal(start(rig), "REQUEST_INVALID");
    expect(message).toContain("never been attached");
  });

  test("does not come from the own session of a headless run", async () => {
    const rig = new TestRig();
    const worker = await rig.running("think");
    await worker.ask(AGENT);
    const refused = start(rig, { originSession: `wf-${worker.runId}` });
    expect((await expectRefusal(refused, "REQUEST_INVALID")).message).toContain(worker.runId);
  });

  test("is taken for the same when it follows within a minute", async () => {
    const rig = new TestRig();
    await openSession(rig);
    const first = await start(rig);
    rig.at.clock.advance(59_000);
    expect(await start(rig)).toEqual({ ...first, outcome: "adopted", revision: 1 });
    rig.at.clock.advance(2_000);
    const later = await start(rig);
    expect(later.outcome).toBe("committed");
    expect(later.runId).not.toBe(first.runId);
  });

  test.each<[string, Partial<Admission>]>([
    ["another input", { inputJson: '{"to":"nap"}' }],
    ["another file", { workflowPath: "/project/other.workflow.ts" }],
    ["the wish for a second one", { adoptRecent: false }],
    ["another session", { originSession: "another" }],
  ])("is another one with %s", async (_what, change) => {
    const rig = new TestRig();
    await openSession(rig);
    await openSession(rig, "another");
    const first = await start(rig);
    const second = await start(rig, change);
    expect(second.outcome).toBe("committed");
    expect(second.runId).not.toBe(first.runId);
  });

  test("can be looked up beforehand", async () => {
    const rig = new TestRig();
    await openSession(rig);
    const { runId } = await start(rig);
    const { workflowPath, inputJson } = admission();
    const query = { originSession: SESSION, workflowPath, inputJson };
    const now = rig.at.clock.now();
    expect(findRecentStart(rig.reader, { ...query, now })?.runId).toBe(runId);
    expect(findRecentStart(rig.reader, { ...query, now: now + 60_001 })).toBeUndefined();
  });
});
