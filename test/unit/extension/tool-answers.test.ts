import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { valueJson } from "../../../src/client/json-value.ts";
import { Reason } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";
import { InteractionKind } from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import type { SubmitResultRequest } from "../../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import { refusal } from "../../support/fake-host.ts";
import { toolRig } from "../../support/tool-rig.ts";

describe("a submission", () => {
  const submit = { action: "submit", interaction: "int_1", value: { notes: "x" } };

  test("names the exact request, the value and the tool's own session", async () => {
    const asked: SubmitResultRequest[] = [];
    const { call } = toolRig({
      interactions: {
        submitResult: (request) => {
          asked.push(request);
          return { accepted: true };
        },
      },
    });
    const { text, isError, headline } = await call(submit);
    expect(isError).toBe(false);
    expect(headline).toBe("accepted int_1");
    expect(text).toContain("accepted");
    expect(asked[0]).toMatchObject({ interactionId: "int_1", sessionId: "session-1" });
    expect(valueJson(asked[0]?.value)).toEqual({ notes: "x" });
    expect(asked[0]?.command?.client).toBe("pi-tool");
  });

  test("has a key of its own for each call, and the same one for its repeats within the call", async () => {
    const keys: (string | undefined)[] = [];
    const { call, link } = toolRig({
      interactions: {
        submitResult: ({ command }) => {
          keys.push(command?.idempotencyKey);
          return { accepted: true };
        },
      },
    });
    link.lostReplies = 2;
    await call(submit);
    await call(submit);
    expect(keys).toHaveLength(4);
    expect(new Set(keys.slice(0, 3)).size).toBe(1);
    expect(keys[3]).not.toBe(keys[0]);
    expect(keys[0]).toMatch(/^tch_/);
  });

  test("that is rejected brings the author's error, and says that the request stays open", async () => {
    const { call } = toolRig({
      interactions: { submitResult: () => ({ accepted: false, error: "notes must be longer" }) },
    });
    const { text, isError } = await call(submit);
    expect(isError).toBe(true);
    expect(text).toContain("notes must be longer");
    expect(text).toContain("The request stays open");
    expect(text).toContain("same interaction id");
  });

  test("takes JSON in a string for what it is, a text for a text, and null for null", async () => {
    const values: unknown[] = [];
    const { call } = toolRig({
      interactions: {
        submitResult: ({ value }) => {
          values.push(valueJson(value));
          return { accepted: true };
        },
      },
    });
    const given = { action: "submit", interaction: "int_1" };
    await call({ ...given, value: '{"a":[1]}' });
    await call({ ...given, text: '{"a":1}' });
    await call({ ...given, value: "[not JSON" });
    await call({ ...given, value: null });
    await call({ ...given, value: false });
    expect(values).toEqual([{ a: [1] }, '{"a":1}', "[not JSON", null, false]);
  });

  test("needs an id and one value", async () => {
    const { call } = toolRig();
    expect((await call({ action: "submit", value: 1 })).text).toContain("interaction");
    expect((await call({ action: "submit", interaction: "int_1" })).text).toContain("value");
    const both = await call({ action: "submit", interaction: "int_1", value: 1, text: "x" });
    expect(both).toMatchObject({ isError: true });
    expect(both.text).toContain("once");
  });

  test.each([
    [InteractionKind.CHECKPOINT, "use action answer"],
    [InteractionKind.REPLY, "just reply"],
    [InteractionKind.HUMAN_DECISION, "/workflow decide int_1"],
  ])("to a request of kind %s is told the right way", async (kind, way) => {
    const { call } = toolRig({
      interactions: {
        submitResult: () => {
          throw refusal(Code.FailedPrecondition, { reason: Reason.WRONG_KIND, message: "no" });
        },
        getInteraction: () => ({ interaction: { interactionId: "int_1", kind } }),
      },
    });
    const { text, isError } = await call(submit);
    expect(isError).toBe(true);
    expect(text).toContain(way);
  });

  test("from a wrong session is told where the request belongs", async () => {
    const { call } = toolRig({
      interactions: {
        submitResult: () => {
          const names = ["session-9"];
          const fields = { reason: Reason.WRONG_SESSION, message: "it is another's", names };
          throw refusal(Code.FailedPrecondition, fields);
        },
      },
    });
    const { text } = await call(submit);
    expect(text).toContain("it is another's");
    expect(text).toContain("session-9");
    expect(text).toContain("/workflow here");
  });

  test("that comes too late is told what the host says", async () => {
    const { call } = toolRig({
      interactions: {
        submitResult: () => {
          const message = "int_1 expired before this result came";
          throw refusal(Code.FailedPrecondition, { reason: Reason.INTERACTION_CLOSED, message });
        },
      },
    });
    expect(await call(submit)).toMatchObject({ isError: true, headline: "submit refused" });
  });
});

describe("an answer", () => {
  test("goes to the checkpoint", async () => {
    const { call } = toolRig({
      interactions: {
        answerCheckpoint: ({ interactionId, answer, sessionId }) => {
          expect({ interactionId, sessionId }).toEqual({
            interactionId: "int_2",
            sessionId: "session-1",
          });
          expect(valueJson(answer)).toBe("yes");
          return {};
        },
      },
    });
    const { isError } = await call({ action: "answer", interaction: "int_2", text: "yes" });
    expect(isError).toBe(false);
  });

  test("to a human decision is refused, with the way a person answers it", async () => {
    const { call } = toolRig({
      interactions: {
        answerCheckpoint: () => {
          throw refusal(Code.PermissionDenied, { reason: Reason.HUMAN_ONLY, message: "no" });
        },
        getInteraction: () => ({ interaction: { kind: InteractionKind.HUMAN_DECISION } }),
      },
    });
    const { text, isError } = await call({ action: "answer", interaction: "int_3", value: "yes" });
    expect(isError).toBe(true);
    expect(text).toContain("Only a person");
    expect(text).toContain("/workflow decide int_3");
    expect(text).toContain("pi-workflows decide int_3");
    expect(text).not.toContain("cap-1");
  });
});

describe("an update", () => {
  test("is published for the open step", async () => {
    const told: string[] = [];
    const { call } = toolRig({
      interactions: {
        publishUpdate: ({ interactionId, text, sessionId }) => {
          told.push(interactionId, text, sessionId);
          return {};
        },
      },
    });
    await call({ action: "update", interaction: "int_1", text: "half" });
    expect(told).toEqual(["int_1", "half", "session-1"]);
    expect((await call({ action: "update", interaction: "int_1" })).isError).toBe(true);
  });
});
