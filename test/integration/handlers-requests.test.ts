import { fromJson } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Value } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { Outcome } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import {
  InteractionKind,
  InteractionStatus,
} from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { RunMode } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { refuseSubmission } from "../../src/host/operations/submissions.ts";
import { command, rejected, startHandlers } from "../support/handler-rig.ts";
import type { HandlerRig } from "../support/handler-rig.ts";

const value = (json: JsonValue): Value => fromJson(ValueSchema, json);
const END = { kind: "next", node: "end", retry: false } as const;

interface Asked extends HandlerRig {
  readonly runId: string;
  readonly interactionId: string;
}

async function thinking(): Promise<Asked> {
  const handlers = startHandlers();
  const worker = await handlers.rig.running("think");
  const interactionId = await worker.ask({ kind: "agent", prompt: "Think hard." });
  return { ...handlers, runId: worker.runId, interactionId };
}

async function choosing(): Promise<Asked> {
  const handlers = startHandlers();
  const worker = await handlers.rig.running("choose");
  const interactionId = await worker.ask({
    kind: "human_decision",
    audience: "operator",
    choices: [
      { id: "yes", label: "Publish" },
      {
        id: "no",
        label: "Do not",
        input: { name: "why", prompt: "Why?", minLength: 3, maxLength: 9 },
      },
    ],
    requestJson: '{"title":"Publish?","subject":{"tag":"v1"}}',
  });
  return { ...handlers, runId: worker.runId, interactionId };
}

/** The validation's worker takes the run and accepts what was submitted. */
async function accept({ rig, runId }: Asked): Promise<void> {
  const worker = await rig.relaunch(runId);
  await worker.advance({ outcome: "ok", outputJson: '{"thought":1}' }, END);
}

async function refuse({ rig, runId }: Asked, error: string): Promise<void> {
  const worker = await rig.relaunch(runId);
  const refusal = { ...worker.place, error };
  await rig.sound(refuseSubmission(rig.host, worker.proof, worker.nextNumber(), refusal));
}

describe("SubmitResult", () => {
  test("answers when the submission is accepted, and a repeat with the same", async () => {
    const asked = await thinking();
    const { interactions, interactionId } = asked;
    const request = { command: command("k"), interactionId, value: value({ thought: 1 }) };
    const first = interactions.submitResult(request);
    await expect.poll(() => asked.rig.run(asked.runId).status).toBe("queued");
    const meanwhile = interactions.submitResult({ ...request, command: command("k") });
    const other = interactions.submitResult({ ...request, command: command() });
    expect(await rejected(other)).toMatchObject({ reason: Reason.SUBMISSION_IN_PROGRESS });
    await accept(asked);
    const answer = await first;
    expect(answer).toMatchObject({ accepted: true, error: "" });
    expect(answer.interaction?.status).toBe(InteractionStatus.ACCEPTED);
    expect(await meanwhile).toMatchObject({ accepted: true, submissionId: answer.submissionId });
    const late = await interactions.submitResult({ ...request, command: command() });
    expect(late).toMatchObject({ accepted: true, submissionId: answer.submissionId });
    expect(late.receipt?.outcome).toBe(Outcome.ADOPTED);
    const wrong = interactions.submitResult({ command: command(), interactionId });
    expect(await rejected(wrong)).toMatchObject({
      reason: Reason.INTERACTION_CLOSED,
      state: "accepted",
    });
  });

  test("gives the author's error back and leaves the request open", async () => {
    const asked = await thinking();
    const { interactions, interactionId } = asked;
    const call = interactions.submitResult({ command: command("k"), interactionId });
    await expect.poll(() => asked.rig.run(asked.runId).status).toBe("queued");
    await refuse(asked, "thought is missing");
    const answer = await call;
    expect(answer).toMatchObject({ accepted: false, error: "thought is missing" });
    expect(answer.interaction).toMatchObject({
      status: InteractionStatus.PENDING,
      lastError: "thought is missing",
    });
  });

  test("is refused for what no model answers, and for an id that is not exact", async () => {
    const { interactions, interactionId } = await choosing();
    const call = interactions.submitResult({ command: command(), interactionId });
    expect((await rejected(call)).reason).toBe(Reason.HUMAN_ONLY);
    const part = interactionId.slice(0, -2);
    const unknown = interactions.submitResult({ command: command(), interactionId: part });
    expect((await rejected(unknown)).reason).toBe(Reason.INTERACTION_NOT_FOUND);
    const short = await rejected(interactions.getInteraction({ interactionId: "…yz" }));
    expect(short.message).toContain("too short to find an interaction");
  });

  test("is refused to another session, whose name is told", async () => {
    const { interactions, interactionId } = await thinking();
    const call = interactions.submitResult({
      command: command(),
      interactionId,
      sessionId: "elsewhere",
    });
    expect((await rejected(call)).reason).toBe(Reason.WRONG_SESSION);
  });

  test("of a client that leaves goes on", async () => {
    const asked = await thinking();
    const leaving = new AbortController();
    const request = { command: command("k"), interactionId: asked.interactionId };
    const call = asked.interactions.submitResult(request, { signal: leaving.signal });
    await expect.poll(() => asked.rig.run(asked.runId).status).toBe("queued");
    leaving.abort();
    await expect(call).rejects.toThrow("aborted");
    await accept(asked);
    expect(asked.rig.run(asked.runId).node).toBe("end");
  });
});

describe("AnswerDecision", () => {
  test("needs what only a person's surface knows", async () => {
    const { interactions, interactionId, capabilities } = await choosing();
    const request = { interactionId, choice: "yes" };
    const bare = interactions.answerDecision({ ...request, command: command() });
    const refusal = await rejected(bare);
    expect(refusal.reason).toBe(Reason.HUMAN_ONLY);
    expect(refusal.message).toContain(`pi-workflows decide ${interactionId}`);
    const revoked = capabilities.issue();
    capabilities.revoke(revoked);
    const late = interactions.answerDecision({
      ...request,
      command: command(),
      capability: revoked,
    });
    expect((await rejected(late)).reason).toBe(Reason.HUMAN_ONLY);
    const capability = capabilities.issue();
    const { interaction } = await interactions.answerDecision({
      ...request,
      command: command("k"),
      capability,
    });
    expect(interaction?.answer).toEqual(value({ choice: "yes" }));
    // The proof is no part of the intention.
    const again = await interactions.answerDecision({ ...request, command: command("k") });
    expect(again.receipt?.outcome).toBe(Outcome.ADOPTED);
  });

  test("checks the choice and its text", async () => {
    const { interactions, interactionId, capabilities } = await choosing();
    const capability = capabilities.issue();
    const decide = (choice: string, text: string) =>
      interactions.answerDecision({ command: command(), interactionId, capability, choice, text });
    for (const [choice, text] of [
      ["maybe", ""],
      ["no", "ab"],
      ["no", "much too long"],
    ] as const)
      expect((await rejected(decide(choice, text))).reason).toBe(Reason.ANSWER_INVALID);
    const { interaction } = await decide("no", "later");
    expect(interaction?.answer).toEqual(value({ choice: "no", why: "later" }));
  });

  test("is the only way to decide", async () => {
    const { interactions, interactionId } = await choosing();
    const call = interactions.answerCheckpoint({
      command: command(),
      interactionId,
      answer: value({ choice: "yes" }),
    });
    expect((await rejected(call)).reason).toBe(Reason.HUMAN_ONLY);
  });
});

describe("a request's view", () => {
  test("tells what is asked, of whom, and how", async () => {
    const { interactions, runs, interactionId, runId } = await choosing();
    const { interaction } = await interactions.getInteraction({ interactionId });
    expect(interaction).toMatchObject({
      kind: InteractionKind.HUMAN_DECISION,
      audience: "operator",
      choices: [{ id: "yes" }, { id: "no", input: { name: "why", minLength: 3, maxLength: 9 } }],
    });
    const { run } = await runs.getRun({ runId });
    expect(run?.summary).toMatchObject({
      interactionKind: InteractionKind.HUMAN_DECISION,
      mode: RunMode.HEADLESS,
    });
  });
});

describe("PublishUpdate", () => {
  test("shows the newest update of an open request", async () => {
    const { interactions, runs, interactionId, runId, rig } = await thinking();
    for (const text of ["a", "b", "c"]) await interactions.publishUpdate({ interactionId, text });
    rig.at.clock.advance(1_000);
    await expect
      .poll(async () => (await runs.getRun({ runId })).run?.progress.map(({ text }) => text))
      .toEqual(["c"]);
  });

  test("is refused for what nobody waits for", async () => {
    const { interactions, interactionId } = await thinking();
    const elsewhere = { interactionId, text: "x", sessionId: "elsewhere" };
    expect((await rejected(interactions.publishUpdate(elsewhere))).reason).toBe(
      Reason.WRONG_SESSION,
    );
    const unknown = interactions.publishUpdate({ interactionId: "int_none", text: "x" });
    expect((await rejected(unknown)).reason).toBe(Reason.INTERACTION_NOT_FOUND);
  });
});
