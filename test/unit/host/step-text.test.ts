import { describe, expect, test } from "vitest";
import type { InteractionKind, MessageReason } from "../../../src/host/records-sessions.ts";
import { notificationText, requestText, resultText } from "../../../src/host/step-text.ts";
import type { EndFacts, RequestFacts } from "../../../src/host/step-text.ts";

const ID = "int_0123456789";

function facts(kind: InteractionKind, change: Partial<RequestFacts> = {}): RequestFacts {
  const asks = { prompt: "Write release notes.", expectedOutput: "an object with a title" };
  return {
    runTitle: "Release",
    node: "write",
    interactionId: ID,
    kind,
    reason: "first",
    summary: "Write the notes",
    contract: kind === "agent" || kind === "reply" ? asks : {},
    ...change,
  };
}

const CHOICES = [
  { id: "yes", label: "Publish it" },
  {
    id: "no",
    label: "Write it\nagain",
    input: { name: "why", prompt: "What is missing?", minLength: 3, maxLength: 20 },
  },
];

describe("the text of an agent step", () => {
  test("asks, says what counts, and names the exact call", () => {
    const text = requestText(facts("agent", { schema: '{"type":"object"}' }));
    expect(text).toContain('Workflow "Release", step write');
    expect(text).toContain("Write release notes.");
    expect(text).toContain("What counts as a valid result: an object with a title");
    expect(text).toContain('"type": "object"');
    expect(text).toContain(`{"action":"submit","interaction":"${ID}","value":…}`);
    expect(text).toContain("this step stays open");
    expect(text).toContain("prose");
    expect(text.indexOf("Write release notes.")).toBeLessThan(text.indexOf('"submit"'));
  });

  test("says nothing of what there is not", () => {
    const text = requestText(facts("agent", { contract: { prompt: "Do it." } }));
    expect(text).not.toMatch(/undefined|Schema|valid result:|may use only|before 20|\n\n\n/);
  });

  test.each<[MessageReason, string]>([
    ["reminder", "Reminder: your last turn has ended"],
    ["resumed", "is shown again"],
    ["rate_limit", "takes requests again"],
    ["model_error", "ended with an error of the model"],
  ])("that is shown again (%s) says why before it asks, and asks in full", (reason, why) => {
    const text = requestText(facts("agent", { reason, lastError: "title is missing" }));
    expect(text.indexOf(why)).toBeGreaterThan(0);
    expect(text.indexOf(why)).toBeLessThan(text.indexOf("Write release notes."));
    expect(text).toContain("The last result was rejected: title is missing");
    expect(text).toContain(`{"action":"submit","interaction":"${ID}"`);
  });

  test("that is new says no reason", () => {
    expect(requestText(facts("agent"))).not.toMatch(/Reminder|again\.|rejected:/);
  });

  test.each([
    [["read", "grep"], "In this step you may use only `read`, `grep` and the tool `workflow`."],
    [["workflow"], "In this step you may use only the tool `workflow`."],
    [[], "In this step you may use only the tool `workflow`."],
  ])("with the tools %j says which", (allowedTools, line) => {
    expect(requestText(facts("agent", { contract: { prompt: "x", allowedTools } }))).toContain(
      line,
    );
  });

  test("tells its deadline", () => {
    const text = requestText(facts("agent", { deadlineAt: 1_700_000_000_000 }));
    expect(text).toContain("It must be answered before 2023-11-14T22:13:20.000Z.");
  });

  test("cuts a schema and an error that are too long to read, and says so", () => {
    const schema = JSON.stringify({ description: "s".repeat(50_000) });
    const text = requestText(
      facts("agent", { schema, reason: "reminder", lastError: "e".repeat(9_000) }),
    );
    expect(text.length).toBeLessThan(32_000);
    expect(text).toContain("characters in all)");
  });

  test("cannot be ended by a schema that holds a fence", () => {
    const schema = JSON.stringify({ description: "```" });
    expect(requestText(facts("agent", { schema }))).toContain("````json");
  });

  test("never ends with half a character", () => {
    const lastError = `${"e".repeat(3_999)}😀 and more`;
    const text = requestText(facts("agent", { reason: "reminder", lastError }));
    expect(text).not.toContain("\ud83d");
    expect(text).toContain(`${"e".repeat(3_999)} …`);
  });
});

describe("the text of a reply step", () => {
  test("wants the next answer and no call", () => {
    const text = requestText(
      facts("reply", { contract: { prompt: "Sum up.", replyCharsMax: 500 } }),
    );
    expect(text).toContain("Sum up.");
    expect(text).toContain("Your next answer is the result");
    expect(text).toContain("at most 500 characters");
    expect(text).not.toContain('"submit"');
    expect(text).toContain(`{"action":"update","interaction":"${ID}","text":…}`);
  });

  test("says what was wrong with the answer before", () => {
    const lastError = "the reply was cut off";
    const text = requestText(facts("reply", { reason: "reminder", lastError }));
    expect(text).toContain("The last answer did not count: the reply was cut off");
  });
});

describe("the text of a checkpoint", () => {
  test("lets a model that knows answer, and forbids to guess", () => {
    const request = '{"files":["a.ts"]}';
    const text = requestText(
      facts("checkpoint", { summary: "Ship it?", request, schema: '{"type":"boolean"}' }),
    );
    expect(text).toContain("Ship it?");
    expect(text).toContain('"a.ts"');
    expect(text).toContain('"boolean"');
    expect(text).toContain(`{"action":"answer","interaction":"${ID}","value":…}`);
    expect(text).toContain("do not guess");
  });
});

describe("the card of a human decision", () => {
  const card = (change: Partial<RequestFacts> = {}): string =>
    requestText(
      facts("human_decision", {
        summary: "Publish?",
        contract: { audience: "the operator", choices: CHOICES },
        ...change,
      }),
    );

  test("shows who decides, what about, and each choice with what it asks for", () => {
    const text = card({ request: '{"title":"Publish?","subject":{"draft":1}}' });
    expect(text).toContain("from: the operator");
    expect(text).toContain('"draft": 1');
    expect(text).toContain("- yes: Publish it\n");
    expect(text).toContain("- no: Write it again (asks for a text of 3 to 20 characters: What");
  });

  test("sends a model to a person and names no tool call", () => {
    const text = card();
    expect(text).toContain(`/workflow decide ${ID}`);
    expect(text).toContain(`pi-workflows decide ${ID}`);
    expect(text).toContain("Only a person");
    expect(text).not.toContain('"action"');
  });

  test.each([
    ['{"title":"t","subject":"a text\\nof lines"}', "a text\nof lines"],
    ['{"title":"t","subject":[1]}', "```json\n[\n  1\n]\n```"],
    ['{"other":true}', '"other": true'],
    ['"a text"', '"a text"'],
  ])("shows the subject of %s", (request, shown) => {
    expect(card({ request })).toContain(shown);
  });

  test("without a subject shows none", () => {
    expect(card({ request: '{"title":"t","subject":null}' })).not.toMatch(/null|```/);
  });

  test("tells what applies when nobody decides", () => {
    const text = card({ deadlineAt: 1_700_000_000_000, defaultAnswer: '{"choice":"yes"}' });
    expect(text).toContain('by 2023-11-14T22:13:20.000Z, this applies: {"choice":"yes"}');
  });
});

describe("the text of a notification", () => {
  test("is the author's, under the name of the workflow", () => {
    const news = { runTitle: "Release", text: " Half done.\n", final: false };
    expect(notificationText(news)).toBe('Workflow "Release":\n\nHalf done.');
    expect(notificationText({ ...news, final: true })).toContain("final word");
  });
});

describe("the text of a result", () => {
  const end = (change: Partial<EndFacts> = {}): string =>
    resultText({
      runId: "run_1",
      runTitle: "Release",
      workflow: "release-notes",
      status: "completed",
      steps: 4,
      startsTurn: true,
      ...change,
    });

  test.each([
    ["completed", "has completed"],
    ["failed", "has failed"],
    ["timed_out", "has run out of time"],
    ["cancelled", "was cancelled"],
  ] as const)("of a run that is %s says so first", (status, words) => {
    expect(end({ status }).split("\n")[0]).toBe(`Workflow "Release" ${words}.`);
  });

  test("tells run, workflow, steps, the value and how to see more", () => {
    const text = end({ result: { text: '{"ok":true}', whole: true } });
    expect(text).toContain("Run run_1 of workflow release-notes, 4 steps.");
    expect(text).toContain('"ok": true');
    expect(text).toContain('{"action":"status","run":"run_1"}');
    expect(text).toContain("pi-workflows show run_1");
    expect(end({ steps: 1 })).toContain("1 step.");
  });

  test("shows only the beginning of a long value", () => {
    const text = end({ result: { text: '{"ok":[1,2', whole: false } });
    expect(text).toContain('The beginning of its result:\n\n```\n{"ok":[1,2 …\n```');
  });

  test("tells the error, or the note of a cancel", () => {
    const error = { name: "model_error", message: "the model failed" };
    expect(end({ status: "failed", error })).toContain("Error: model_error: the model failed");
    expect(end({ status: "cancelled", note: "not now" })).toContain("Note: not now");
    expect(end({ status: "cancelled", note: "" })).not.toContain("Note");
  });

  test("tells which steps failed on the way of a run that completed all the same", () => {
    const unsuccessful = ["draft (timed_out)", "check (failed)"];
    expect(end({ unsuccessful })).toContain(
      "Steps that did not succeed: draft (timed_out), check (failed)",
    );
    const many = Array.from({ length: 12 }, (_, index) => `n${index} (failed)`);
    expect(end({ unsuccessful: many })).toMatch(/n9 \(failed\), …$/m);
    for (const text of [
      end(),
      end({ unsuccessful: [] }),
      end({ status: "failed", unsuccessful }),
    ]) {
      expect(text).not.toContain("did not succeed");
    }
  });

  test("tells a model what to do with it only when it starts a turn", () => {
    expect(end()).toContain("Tell the user");
    expect(end({ startsTurn: false })).not.toContain("Tell the user");
  });
});
