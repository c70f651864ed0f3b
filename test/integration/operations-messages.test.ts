import { describe, expect, test } from "vitest";
import { settleFailed } from "../../src/host/operations/settle.ts";
import { system } from "../../src/host/store/doors.ts";
import { expectRefusal } from "../support/refusal.ts";
import { pause, resume } from "../support/scenes.ts";
import {
  AGENT,
  askingModel,
  choose,
  DECISION,
  deliver,
  endTurn,
  interaction,
  messages,
  REPLY,
  SESSION,
  shown,
  textOf,
  told,
} from "../support/session-scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { next, OK } from "../support/test-worker.ts";

const STEP = { kind: "step", startsTurn: true };

describe("a request of a run that a session shows", () => {
  test.each([
    ["agent", "think", AGENT, STEP],
    ["agent (decision)", "pick", AGENT, STEP],
    ["reply", "think", REPLY, STEP],
    ["checkpoint", "ask", {}, STEP],
    ["human_decision", "choose", DECISION, { kind: "human_decision", startsTurn: false }],
  ] as const)("of kind %s is asked there with its wait", async (_what, node, request, starts) => {
    const rig = new TestRig();
    const worker = await shown(rig, node);
    const interactionId = await worker.ask(request);
    const [message, ...others] = messages(rig, worker.runId);
    expect(others).toEqual([]);
    expect(message).toMatchObject({
      sessionId: SESSION,
      interactionId,
      ...starts,
      reason: "first",
      status: "pending",
      node,
      summary: "summary" in request ? request.summary : "Ship it?",
    });
    expect(textOf(rig, message)).toContain(interactionId);
  });

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
    expect(rig.reader.turns.get(turn)?.status).toBe("open");
    expect(rig.reader.turns.get(turn)?.abortReason).toContain("deadline");
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
