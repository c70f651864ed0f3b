import { describe, expect, test } from "vitest";
import { answerCheckpoint } from "../../src/host/operations/interactions.ts";
import type { InteractionRequest } from "../../src/host/operations/parking.ts";
import { expectRefusal, reasonOf } from "../support/refusal.ts";
import { pause } from "../support/scenes.ts";
import {
  AGENT,
  CHOICES,
  choose,
  DECISION,
  interaction,
  REPLY,
  SESSION,
  shown,
  told,
} from "../support/session-scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { next } from "../support/test-worker.ts";

async function deciding(rig: TestRig, request: Partial<InteractionRequest> = {}) {
  const worker = await rig.running("choose");
  const interactionId = await worker.ask({ ...DECISION, ...request });
  await rig.exit(worker.proof.workerId);
  return { runId: worker.runId, interactionId };
}

const output = (rig: TestRig, runId: string): unknown => {
  const stored = rig.reader.attempts.newest(runId)?.output;
  return stored === undefined ? undefined : JSON.parse(rig.reader.values.read(stored));
};

describe("a person's decision", () => {
  test("is the output of the node, with the text that the choice asks for", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await deciding(rig);
    await choose(rig, interactionId, "no", "the title");
    expect(rig.run(runId)).toMatchObject({ status: "queued", activation: "answered" });
    expect(output(rig, runId)).toEqual({ choice: "no", why: "the title" });
    expect(interaction(rig, interactionId)).toMatchObject({
      status: "accepted",
      answeredBy: "test",
    });
    await (await rig.relaunch(runId)).advance(undefined, next("end"));
  });

  test("without a text is the choice alone", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await deciding(rig);
    await choose(rig, interactionId, "yes");
    expect(output(rig, runId)).toEqual({ choice: "yes" });
  });

  test.each([
    ["maybe", "", "choice", "is none of: yes, no"],
    ["yes", "because", "text", "asks for no text"],
    ["no", "", "why", "has 0 characters, 3 to 20 are wanted"],
    ["no", "ab", "why", "has 2 characters"],
    ["no", "x".repeat(21), "why", "has 21 characters"],
  ])(
    "that does not fit (%s, %j) is refused, and all stays open",
    async (choice, text, place, what) => {
      const rig = new TestRig();
      const { runId, interactionId } = await deciding(rig);
      const { details } = await expectRefusal(
        choose(rig, interactionId, choice, text),
        "ANSWER_INVALID",
      );
      expect(details.problems?.map((one) => one.place)).toEqual([place]);
      expect(details.problems?.[0]?.message).toContain(what);
      expect(rig.run(runId).status).toBe("waiting");
    },
  );

  test("is measured in characters as people count them", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await deciding(rig);
    await choose(rig, interactionId, "no", "😀".repeat(20));
    expect(output(rig, runId)).toEqual({ choice: "no", why: "😀".repeat(20) });
  });

  test("wins when it is the first; the same again gets its receipt, others are told who won", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await deciding(rig);
    const first = await choose(rig, interactionId, "yes");
    const same = await choose(rig, interactionId, "yes");
    expect(same).toMatchObject({ outcome: "adopted", revision: first.revision, runId });
    const late = await expectRefusal(
      choose(rig, interactionId, "no", "too late"),
      "INTERACTION_CLOSED",
    );
    expect(late.message).toContain("test answered it");
    expect(late.details).toMatchObject({ state: "accepted", names: ["test"] });
  });

  test("is refused while its run is paused", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await deciding(rig);
    await pause(rig, runId);
    expect(await reasonOf(choose(rig, interactionId, "yes"))).toBe("ILLEGAL_TRANSITION");
  });

  test.each([
    ["an agent step", "think", AGENT],
    ["a reply", "think", REPLY],
    ["a checkpoint", "ask", {}],
  ] as const)("of %s is of the wrong kind", async (_what, node, request) => {
    const rig = new TestRig();
    const worker = await rig.running(node);
    const interactionId = await worker.ask(request);
    expect(await reasonOf(choose(rig, interactionId, "yes"))).toBe("WRONG_KIND");
  });
});

describe("a decision that nobody takes in time", () => {
  const DEFAULT = { afterMs: 5_000, responseJson: '{"choice":"no","why":"silence"}' };

  test("gets its default answer from the policy", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await deciding(rig, { onTimeout: DEFAULT });
    expect(await rig.pass(4_999)).toBe(0);
    expect(await rig.pass(1)).toBe(1);
    expect(output(rig, runId)).toEqual({ choice: "no", why: "silence" });
    expect(interaction(rig, interactionId)).toMatchObject({
      status: "accepted",
      answeredBy: "policy",
    });
    expect(rig.run(runId).activation).toBe("answered");
    const settled = rig.reader.events.ofRun(runId, 0, 100).at(-1);
    expect(settled).toMatchObject({ kind: "settle", data: { answeredBy: "policy" } });
    const late = await expectRefusal(choose(rig, interactionId, "yes"), "INTERACTION_CLOSED");
    expect(late.message).toContain("policy answered it");
  });

  test.each([
    ["the default, when both come at once", 5_000, "accepted"],
    ["the deadline, when that is earlier", 4_000, "expired"],
    ["the default, when that is earlier", 6_000, "accepted"],
  ])("follows %s", async (_which, timeoutMs, status) => {
    const rig = new TestRig();
    const { interactionId } = await deciding(rig, { onTimeout: DEFAULT, timeoutMs });
    await rig.pass(6_000);
    expect(interaction(rig, interactionId).status).toBe(status);
  });

  test("without a default expires", async () => {
    const rig = new TestRig();
    const { runId, interactionId } = await deciding(rig, { timeoutMs: 5_000 });
    await rig.pass(5_000);
    expect(interaction(rig, interactionId).status).toBe("expired");
    expect(rig.run(runId).activation).toBe("expired");
  });
});

describe("a request is refused when it is opened", () => {
  test.each<[string, string, Partial<InteractionRequest>, string]>([
    ["an agent request", "ask", AGENT, "is no agent or decision node"],
    ["a reply", "pick", REPLY, "is no agent node"],
    ["a checkpoint", "think", {}, "is no checkpoint node"],
    ["a decision", "ask", DECISION, "is no human_decision node"],
    ["a request without a prompt", "think", { ...AGENT, prompt: " " }, "needs a prompt"],
    ["a decision without choices", "choose", { ...DECISION, choices: [] }, "needs choices"],
    [
      "two choices of one id",
      "choose",
      {
        ...DECISION,
        choices: [
          { id: "a", label: "" },
          { id: "a", label: "" },
        ],
      },
      "the same id",
    ],
    [
      "a choice without an id",
      "choose",
      { ...DECISION, choices: [{ id: "", label: "" }] },
      "no id",
    ],
    [
      "a text that would hide the choice",
      "choose",
      {
        ...DECISION,
        choices: [
          { id: "a", label: "", input: { name: "choice", prompt: "", minLength: 0, maxLength: 9 } },
        ],
      },
      "cannot be asked for",
    ],
    [
      "a text that nobody can give",
      "choose",
      {
        ...DECISION,
        choices: [
          { id: "a", label: "", input: { name: "why", prompt: "", minLength: 9, maxLength: 3 } },
        ],
      },
      "cannot be asked for",
    ],
  ])("as %s of another node or without sense", async (_what, node, request, message) => {
    const rig = new TestRig();
    const worker = await rig.running(node);
    const refused = await expectRefusal(worker.ask(request), "REQUEST_INVALID");
    expect(refused.message).toContain(message);
    expect(worker.run.status).toBe("running");
  });

  test.each([
    ["{}", "choice must name a choice"],
    ["[]", "choice must name a choice"],
    ['{"choice":"maybe"}', "none of: yes, no"],
    ['{"choice":"no"}', "why must be a text"],
    ['{"choice":"no","why":"x"}', "has 1 characters"],
    ['{"choice":"yes","more":1}', "more choice yes does not ask for it"],
  ])("with the default %s, which no person could give", async (responseJson, message) => {
    const rig = new TestRig();
    const worker = await rig.running("choose");
    const asked = worker.ask({ ...DECISION, onTimeout: { afterMs: 1_000, responseJson } });
    expect((await expectRefusal(asked, "ANSWER_INVALID")).message).toContain(message);
  });

  test("with a prompt or with choices beyond their limits", async () => {
    const rig = new TestRig();
    const worker = await rig.running("think");
    await worker.ask({ ...AGENT, prompt: "p".repeat(96_000) });
    const second = await rig.running("think");
    const long = second.ask({ ...AGENT, prompt: "p".repeat(96_001) });
    expect((await expectRefusal(long, "LIMIT_EXCEEDED")).details.actual).toBe(96_001);
    const third = await rig.running("choose");
    const choices = Array.from({ length: 101 }, (_, index) => ({ id: `c${index}`, label: "" }));
    await expectRefusal(third.ask({ ...DECISION, choices }), "LIMIT_EXCEEDED");
  });

  test("and otherwise keeps exactly what its kind has", async () => {
    const rig = new TestRig();
    const { interactionId } = await deciding(rig, { prompt: "not shown", replyCharsMax: 5 });
    const { contract } = interaction(rig, interactionId);
    if (contract === undefined) throw new Error("the contract is not stored");
    expect(JSON.parse(rig.reader.values.read(contract))).toEqual({
      audience: "operator",
      choices: CHOICES,
    });
  });
});

describe("a checkpoint", () => {
  const answer = (rig: TestRig, interactionId: string, sessionId?: string) =>
    answerCheckpoint(rig.host, rig.asked("AnswerCheckpoint"), {
      interactionId,
      answerJson: "true",
      ...(sessionId === undefined ? {} : { sessionId }),
    });

  test("is answered from its session or from none, and from no other", async () => {
    const rig = new TestRig();
    const first = await (await shown(rig, "ask")).ask();
    const wrong = await expectRefusal(answer(rig, first, "other"), "WRONG_SESSION");
    expect(wrong.details.names).toEqual([SESSION]);
    await rig.sound(answer(rig, first, SESSION));
    const second = await shown(rig, "ask");
    await rig.sound(answer(rig, await second.ask()));
    expect(told(rig, second.runId)).toEqual(["step first cancelled"]);
  });

  test.each([
    ["an agent step", "think", AGENT, "WRONG_KIND"],
    ["a reply", "think", REPLY, "WRONG_KIND"],
    ["a decision", "choose", DECISION, "HUMAN_ONLY"],
  ] as const)(
    "is the only kind that is answered so, not %s",
    async (_what, node, request, reason) => {
      const rig = new TestRig();
      const worker = await rig.running(node);
      await expectRefusal(answer(rig, await worker.ask(request)), reason);
      expect(worker.run.status).toBe("waiting");
    },
  );
});
