import { describe, expect, test } from "vitest";
import { rebuildMissingResults } from "../../src/host/operations/results.ts";
import { settleFailed } from "../../src/host/operations/settle.ts";
import { admitRun, findRecentStart } from "../../src/host/operations/runs.ts";
import type { Admission } from "../../src/host/operations/runs.ts";
import { system } from "../../src/host/store/doors.ts";
import { expectRefusal } from "../support/refusal.ts";
import { cancel, pause, resume } from "../support/scenes.ts";
import {
  AGENT,
  askingModel,
  choose,
  DECISION,
  deliver,
  endTurn,
  interaction,
  messages,
  openSession,
  REPLY,
  SESSION,
  shown,
  textOf,
  told,
} from "../support/session-scenes.ts";
import { admission, hubAt, TestRig } from "../support/test-host.ts";
import { COMPLETE, FAIL, next, OK } from "../support/test-worker.ts";
import { vandalise } from "../support/vandal.ts";

describe("a request of a run that a session shows", () => {
  test.each([
    ["agent", "think", AGENT, "step", true],
    ["agent (decision)", "pick", AGENT, "step", true],
    ["reply", "think", REPLY, "step", true],
    ["checkpoint", "ask", {}, "step", true],
    ["human_decision", "choose", DECISION, "human_decision", false],
  ] as const)(
    "of kind %s is asked there with its wait",
    async (_what, node, request, kind, turn) => {
      const rig = new TestRig();
      const worker = await shown(rig, node);
      const interactionId = await worker.ask(request);
      const [message, ...others] = messages(rig, worker.runId);
      expect(others).toEqual([]);
      expect(message).toMatchObject({
        sessionId: SESSION,
        interactionId,
        kind,
        reason: "first",
        status: "pending",
        startsTurn: turn,
        node,
        summary: "summary" in request ? request.summary : "Ship it?",
      });
      expect(textOf(rig, message)).toContain(interactionId);
    },
  );

  test.each([
    ["checkpoint", "ask", {}],
    ["human_decision", "choose", DECISION],
  ] as const)("of kind %s is asked nowhere in a headless run", async (_what, node, request) => {
    const rig = new TestRig();
    const worker = await rig.running(node);
    await worker.ask(request);
    expect(messages(rig, worker.runId)).toEqual([]);
    expect(worker.run.originSession).toBeUndefined();
    await pause(rig, worker.runId);
    await resume(rig, worker.runId);
    expect(messages(rig, worker.runId)).toEqual([]);
  });

  test("is numbered in the order of all requests", async () => {
    const rig = new TestRig();
    const first = await askingModel(rig);
    const second = await askingModel(rig);
    const positions = [first, second].map(({ runId }) => messages(rig, runId)[0]?.position);
    expect(positions).toEqual([1, 2]);
  });

  test("has one line for its card, cut where it is too long", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "ask");
    await worker.ask({ summary: `${"long ".repeat(60)}\nand more` });
    const [message] = messages(rig, worker.runId);
    expect(message?.summary).toHaveLength(200);
    expect(message?.summary).toMatch(/…$/);
  });
});

describe("a pause", () => {
  test("takes back what nobody has seen and stops the model; a resume asks again", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    await pause(rig, runId);
    expect(told(rig, runId)).toEqual(["step first cancelled"]);
    await resume(rig, runId);
    const turn = await deliver(rig, interactionId);
    await pause(rig, runId);
    expect(rig.reader.turns.get(turn)?.abortReason).toContain("paused");
    await endTurn(rig, turn);
    await resume(rig, runId);
    expect(told(rig, runId)).toEqual([
      "step first cancelled",
      "step resumed superseded",
      "step resumed pending",
    ]);
    expect(textOf(rig, messages(rig, runId).at(-1))).toContain("is shown again");
  });

  test("lets a decision's card stand that was seen, and shows another one again", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "choose");
    const interactionId = await worker.ask(DECISION);
    await pause(rig, worker.runId);
    await resume(rig, worker.runId);
    await deliver(rig, interactionId);
    await pause(rig, worker.runId);
    await resume(rig, worker.runId);
    expect(told(rig, worker.runId)).toEqual([
      "human_decision first cancelled",
      "human_decision resumed delivered",
    ]);
    await choose(rig, interactionId, "yes");
  });

  test("that comes while an effect is applied asks when the run is resumed", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "mail");
    const grant = await worker.act();
    await pause(rig, worker.runId);
    if (grant.kind !== "apply") throw new Error("the effect was not granted");
    const effect = { effectId: grant.effectId, kind: "applied" } as const;
    await worker.advance({ ...OK, effect }, next("end"));
    expect(worker.run.status).toBe("paused");
    expect(messages(rig, worker.runId)).toEqual([]);
  });

  test("is over before a deadline that passed meanwhile, which comes first", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig, { timeoutMs: 5_000 });
    await pause(rig, runId);
    expect(await rig.pass(6_000)).toBe(0);
    await resume(rig, runId);
    expect(interaction(rig, interactionId).status).toBe("expired");
    expect(told(rig, runId)).toEqual(["step first cancelled"]);
  });

  test("forgets the turns that were lost before it", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    await system(rig.host, "lose", (tx) =>
      tx.put.interactionChange(interactionId, { lostTurns: 2 }),
    );
    await pause(rig, runId);
    await resume(rig, runId);
    expect(interaction(rig, interactionId).lostTurns).toBe(0);
  });
});

describe("a deadline", () => {
  test("takes the request back and stops the model that works on it", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig, { timeoutMs: 5_000 });
    const turn = await deliver(rig, interactionId);
    await rig.pass(5_000);
    expect(rig.reader.turns.get(turn)).toMatchObject({
      status: "open",
      abortReason: expect.stringContaining("deadline"),
    });
    expect(rig.reader.attempts.newest(runId)).toMatchObject({
      status: "timed_out",
      error: { name: "DeadlineExpired" },
    });
  });
});

describe("a step that a model cannot do", () => {
  test("fails by a name that the graph may route, and its request is withdrawn", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await askingModel(rig);
    const failed = system(rig.host, "turn_ended", (tx) => {
      const step = { tx, run: rig.run(runId), at: rig.at.clock.now() };
      settleFailed(step, interaction(rig, interactionId), { name: "model_error", message: "503" });
    });
    await rig.sound(failed);
    expect(interaction(rig, interactionId).status).toBe("cancelled");
    expect(told(rig, runId)).toEqual(["step first cancelled"]);
    expect(rig.reader.attempts.newest(runId)).toMatchObject({
      status: "failed",
      error: { name: "model_error", message: "503" },
    });
    await (await rig.relaunch(runId)).advance(undefined, next("end"));
  });
});

describe("a notification", () => {
  const news = { text: "Half done.\nMore follows.", final: false };

  test("is told with the boundary of its node, and starts no turn", async () => {
    const rig = new TestRig();
    const worker = await shown(rig, "tell");
    await worker.advance({ ...OK, notification: news }, next("end"));
    const [message] = messages(rig, worker.runId);
    expect(message).toMatchObject({
      kind: "notification",
      status: "pending",
      startsTurn: false,
      node: "tell",
      summary: "Half done.",
    });
    expect(textOf(rig, message)).toContain("More follows.");
  });

  test("of a headless run is told nowhere", async () => {
    const rig = new TestRig();
    const worker = await rig.running("tell");
    await worker.advance({ ...OK, notification: news }, next("end"));
    expect(messages(rig, worker.runId)).toEqual([]);
  });

  test("is refused from another node, and when it is too long", async () => {
    const rig = new TestRig();
    const hub = await shown(rig, "hub");
    await expectRefusal(hub.advance({ ...OK, notification: news }, next("end")), "REQUEST_INVALID");
    const worker = await shown(rig, "tell");
    const long = { text: "x".repeat(16_001), final: true };
    await expectRefusal(
      worker.advance({ ...OK, notification: long }, next("end")),
      "LIMIT_EXCEEDED",
    );
    expect(worker.run.node).toBe("tell");
    await worker.advance(
      { ...OK, notification: { ...long, text: "x".repeat(16_000) } },
      next("end"),
    );
  });
});

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
