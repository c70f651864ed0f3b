import { describe, expect, test } from "vitest";
import { answerCheckpoint } from "../../src/host/operations/interactions.ts";
import { pruneRuns } from "../../src/host/operations/retention.ts";
import type { AskedCommand } from "../../src/host/operations/canonical.ts";
import { reasonOf, refusal } from "../support/refusal.ts";
import { cancel } from "../support/scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { COMPLETE, FAIL, next, OK } from "../support/test-worker.ts";
import type { TestWorker } from "../support/test-worker.ts";

interface Asking {
  readonly rig: TestRig;
  readonly worker: TestWorker;
  readonly interactionId: string;
}

async function asking(timeoutMs?: number): Promise<Asking> {
  const rig = new TestRig();
  const worker = await rig.running("ask");
  const request = { requestJson: '{"draft":1}', schemaJson: '{"type":"object"}' };
  const deadline = timeoutMs === undefined ? {} : { timeoutMs };
  return { rig, worker, interactionId: await worker.ask({ ...request, ...deadline }) };
}

function answer(
  { rig, interactionId }: Pick<Asking, "rig" | "interactionId">,
  answerJson: string,
  asked: AskedCommand = rig.asked("AnswerCheckpoint"),
) {
  return rig.sound(answerCheckpoint(rig.host, asked, { interactionId, answerJson }));
}

describe("a checkpoint", () => {
  test("parks its run: no claim, a waiting attempt, what is asked and until when", async () => {
    const { rig, worker, interactionId } = await asking(60_000);
    expect(worker.run).toMatchObject({ status: "waiting", boundary: 2, noProgress: 0 });
    expect(rig.reader.claims.open(worker.runId)).toBeUndefined();
    expect(rig.reader.interactions.get(interactionId)).toMatchObject({
      status: "pending",
      summary: "Ship it?",
      request: { json: '{"draft":1}' },
      schema: { json: '{"type":"object"}' },
      deadlineAt: rig.at.clock.now() + 60_000,
    });
    expect(rig.events(worker.runId).at(-1)).toBe("wait");
  });

  test("may have neither a request nor a schema nor a deadline", async () => {
    const rig = new TestRig();
    const worker = await rig.running("ask");
    const interaction = rig.reader.interactions.get(await worker.ask());
    expect(Object.keys(interaction ?? {})).not.toEqual(
      expect.arrayContaining(["request", "schema", "deadlineAt"]),
    );
  });

  test("is opened by a checkpoint node, with a schema that can be read", async () => {
    const rig = new TestRig();
    const hub = await rig.running("hub");
    expect(await reasonOf(hub.ask())).toBe("REQUEST_INVALID");
    const worker = await rig.running("ask");
    expect(await reasonOf(worker.ask({ schemaJson: "{" }))).toBe("REQUEST_INVALID");
  });

  test("cannot wait while an effect of its attempt is being applied", async () => {
    const rig = new TestRig();
    const worker = await rig.running("ask");
    await worker.act({ type: "x" });
    expect(await reasonOf(worker.ask())).toBe("REQUEST_INVALID");
  });
});

describe("an answer", () => {
  test("is the attempt's output; the next activation only routes", async () => {
    const { rig, worker, interactionId } = await asking();
    const receipt = await answer({ rig, interactionId }, '{"ship":true}');
    expect(receipt).toMatchObject({ outcome: "committed", runId: worker.runId });
    expect(worker.run).toMatchObject({ status: "queued", boundary: 3, activation: "answered" });
    expect(rig.reader.interactions.get(interactionId)).toMatchObject({
      status: "accepted",
      answer: { json: '{"ship":true}' },
      answeredBy: "test",
    });
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin).toMatchObject({ kind: "answered", attemptId: worker.attemptId });
    await successor.advance(undefined, next("end"));
    await successor.advance(OK, COMPLETE);
    const attempt = rig.reader.attempts.newestOk(worker.runId, "ask");
    expect(attempt?.output).toEqual({ json: '{"ship":true}' });
  });

  test("given again under any key gets the receipt of the first, however it is written", async () => {
    const scene = await asking();
    const first = await answer(scene, '{"a":1,"b":[2]}');
    const again = await answer(scene, '{ "b": [2], "a": 1 }');
    expect(again).toEqual({ ...first, outcome: "adopted" });
    const { worker, rig } = scene;
    const successor = await rig.relaunch(worker.runId);
    await successor.advance(undefined, FAIL);
    expect(await answer(scene, '{"a":1,"b":[2]}')).toEqual({ ...first, outcome: "adopted" });
  });

  test("repeated under its key gets its receipt, also when the run is pruned", async () => {
    const scene = await asking();
    const { rig, worker } = scene;
    const once = rig.asked("AnswerCheckpoint", { key: "once" });
    const first = await answer(scene, "true", once);
    expect(await answer(scene, "true", once)).toEqual({ ...first, outcome: "adopted" });
    await cancel(rig, worker.runId);
    await rig.exit(worker.proof.workerId);
    rig.at.clock.advance(1);
    const prune = { olderThanMs: 0, dryRun: false };
    await rig.sound(pruneRuns(rig.host, rig.asked("Prune"), prune));
    expect(rig.reader.runs.get(worker.runId)).toBeUndefined();
    expect(await answer(scene, "true", once)).toEqual({ ...first, outcome: "adopted" });
    expect(await reasonOf(answer(scene, "true"))).toBe("INTERACTION_NOT_FOUND");
  });

  test("of another value is told that there is one", async () => {
    const scene = await asking();
    await answer(scene, "true");
    const error = await refusal(answer(scene, "false"));
    expect(error.reason).toBe("INTERACTION_CLOSED");
    expect(error.details.state).toBe("accepted");
  });

  test("to a cancelled run is told so", async () => {
    const scene = await asking();
    await cancel(scene.rig, scene.worker.runId);
    expect((await refusal(answer(scene, "true"))).details.state).toBe("cancelled");
  });

  test("is the first of twenty at the same moment, and the others agree with it", async () => {
    const scene = await asking();
    const values = Array.from({ length: 20 }, (_, index) => String(index % 2));
    const outcomes = await Promise.allSettled(values.map((value) => answer(scene, value)));
    expect(outcomes.map(({ status }) => status)).toEqual(
      values.map((value) => (value === "0" ? "fulfilled" : "rejected")),
    );
    const settles = scene.rig.events(scene.worker.runId).filter((kind) => kind === "settle");
    expect(settles).toHaveLength(1);
  });

  test.each([
    ["not JSON", "{", "REQUEST_INVALID"],
    ["too large", JSON.stringify("x".repeat(8 * 1024 * 1024)), "LIMIT_EXCEEDED"],
  ])("that is %s is refused", async (_what, json, reason) => {
    expect(await reasonOf(answer(await asking(), json))).toBe(reason);
  });

  test("to an interaction that nobody knows is refused", async () => {
    const rig = new TestRig();
    expect(await reasonOf(answer({ rig, interactionId: "int_unknown" }, "1"))).toBe(
      "INTERACTION_NOT_FOUND",
    );
  });
});

describe("a deadline", () => {
  test("that passes times the attempt out, which the graph may route", async () => {
    const { rig, worker, interactionId } = await asking(1_000);
    expect(await rig.pass(999)).toBe(0);
    expect(await rig.pass(1)).toBe(1);
    expect(worker.run).toMatchObject({ status: "queued", activation: "expired", boundary: 3 });
    expect(rig.reader.interactions.get(interactionId)?.status).toBe("expired");
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin).toMatchObject({ kind: "expired", countedAttempts: 1 });
    await successor.advance(undefined, next("end"));
    expect(rig.reader.attempts.get(worker.attemptId)).toMatchObject({
      status: "timed_out",
      error: { name: "DeadlineExpired" },
    });
  });

  test("that has passed beats an answer, before and after it is settled", async () => {
    const scene = await asking(1_000);
    scene.rig.at.clock.advance(1_000);
    const early = await refusal(answer(scene, "true"));
    await scene.rig.pass(0);
    const late = await refusal(answer(scene, "true"));
    for (const error of [early, late]) {
      expect([error.reason, error.details.state]).toEqual(["INTERACTION_CLOSED", "expired"]);
    }
  });

  test("loses to an answer that came before it", async () => {
    const scene = await asking(1_000);
    scene.rig.at.clock.advance(999);
    await answer(scene, "true");
    expect(await scene.rig.pass(5_000)).toBe(0);
    expect(scene.worker.run.activation).toBe("answered");
  });
});
