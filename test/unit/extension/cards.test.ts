import { visibleWidth } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import { cardLines } from "../../../src/extension/card-lines.ts";
import { registerCards, renderCard } from "../../../src/extension/cards.ts";
import { MESSAGE_TYPE } from "../../../src/extension/message-details.ts";
import type { MessageDetails } from "../../../src/extension/message-details.ts";

const STEP: MessageDetails = {
  id: "msg_1",
  sessionId: "session-1",
  kind: "step",
  reason: "first",
  runId: "run_1",
  runTitle: "release 1.2",
  workflow: "release",
  interactionId: "int_1",
  interactionKind: "agent",
  node: "draft",
  summary: "write the notes",
  choices: [],
  deadlineAt: "",
  runStatus: "",
};
const DECISION: MessageDetails = {
  ...STEP,
  kind: "human_decision",
  interactionKind: "human_decision",
  node: "review",
  summary: "Publish?",
  choices: [
    { id: "yes", label: "Publish" },
    { id: "no", label: "Drop it" },
  ],
  deadlineAt: "2025-01-02T00:00:00.000Z",
};
const RESULT: MessageDetails = { ...STEP, kind: "result", node: "", runStatus: "timed_out" };
const TEXT = "line 1\nline 2\nline 3\nline 4\n";

const texts = (details: MessageDetails, expanded: boolean, text = TEXT): readonly string[] =>
  cardLines(details, text, expanded).map((line) => line.text);

describe("a collapsed card", () => {
  test("of a step is its head and its summary", () => {
    expect(texts(STEP, false)).toEqual(["◇ workflow step: release 1.2 · draft", "write the notes"]);
  });

  test("says why a step is shown again", () => {
    expect(texts({ ...STEP, reason: "reminder" }, false)[0]).toContain("(reminder)");
    expect(texts({ ...STEP, reason: "rate_limit" }, false)[0]).toContain("provider's limit");
  });

  test("of a checkpoint is a question", () => {
    const lines = texts({ ...STEP, interactionKind: "checkpoint" }, false);
    expect(lines[0]).toBe("● workflow question: release 1.2 · draft");
    expect(lines.at(-1)).toBe("/workflow answer int_1");
  });

  test("of a decision says what can be chosen, how and until when", () => {
    const lines = texts(DECISION, false);
    expect(lines.slice(0, 3)).toEqual([
      "● your decision: release 1.2 · review",
      "Publish?",
      "choices: Publish / Drop it",
    ]);
    expect(lines[3]).toMatch(/^\/workflow decide int_1 {2}\(until 2025-01-0\d \d\d:00:00\)$/);
  });

  test("of a decision shows how its subject begins", () => {
    const subject = (lines: number): readonly string[] => {
      const body = Array.from({ length: lines }, (_, index) => `part ${index + 1}`).join("\n\n");
      const text = `Decision needed\n\nPublish?\n\n${body}\n\nChoices:\n- yes: Publish`;
      return texts(DECISION, false, text).slice(1, -2);
    };
    expect(subject(5)).toEqual(["Publish?", "part 1", "part 2 …"]);
    expect(subject(2)).toEqual(["Publish?", "part 1", "part 2"]);
    const fenced = 'Publish?\n\n```json\n{"a":1}\n```\n\nChoices:\n- yes: Publish';
    expect(texts(DECISION, false, fenced).slice(1, -2)).toEqual(["Publish?", '{"a":1}']);
  });

  test("of a note is the beginning of its text", () => {
    const note = { ...STEP, kind: "notification", interactionKind: "", summary: "" } as const;
    expect(texts(note, false)).toEqual([
      "• workflow note: release 1.2 · draft",
      "line 1",
      "line 2",
      "line 3",
      "…",
    ]);
  });

  test("of a note leaves out what its head says already", () => {
    const note = { ...STEP, kind: "notification", interactionKind: "" } as const;
    const text = 'Workflow "release 1.2", final word:\n\nAll done.';
    expect(texts(note, false, text).slice(1)).toEqual(["All done."]);
    expect(texts(note, true, text)[1]).toContain("final word");
  });

  test("of a result tells a text by its first lines", () => {
    const told = (value: unknown): readonly string[] => {
      const text = `It has completed.\n\nResult:\n\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`;
      return texts({ ...RESULT, runStatus: "completed" }, false, text).slice(1);
    };
    expect(told("one\n\ntwo\nthree")).toEqual(["one", "two …"]);
    expect(told("one\ntwo")).toEqual(["one", "two"]);
    expect(told([1, 2])).toEqual(["[1,2]"]);
    expect(told({ file: "a.md", counts: { lines: 3 } })).toEqual([
      'file: a.md · counts: {"lines":3}',
    ]);
  });

  test("of a result marks that a step failed on the way, whatever the result says", () => {
    const done = { ...RESULT, runStatus: "completed" };
    const line = "Steps that did not succeed: draft (timed_out)";
    const result = 'Result:\n\n```json\n{"late":true}\n```';
    expect(texts(done, false, `It has completed.\n\n${result}\n\n${line}\n`)).toEqual([
      "! workflow completed: release 1.2",
      "late: true",
      line,
    ]);
    const quoted = `Result:\n\n\`\`\`\n${line}\n\`\`\``;
    expect(texts(done, false, quoted)).toEqual(["✓ workflow completed: release 1.2", line]);
  });

  test("of a result says in one line what came out", () => {
    const result = { ...RESULT, runStatus: "completed" };
    const text = 'It has completed.\n\nResult:\n\n```json\n{\n  "a": 1\n}\n```\n\nMore.';
    expect(texts(result, false, text).slice(1)).toEqual(["a: 1"]);
    const failure = "It has failed.\n\nError: TypeError: no tag\n\nMore.";
    expect(texts(result, false, failure).slice(1)).toEqual(["Error: TypeError: no tag"]);
    expect(texts(result, false, "It has ended.")).toHaveLength(1);
  });

  test.each([
    ["completed", "✓ workflow completed: release 1.2"],
    ["failed", "✗ workflow failed: release 1.2"],
    ["timed_out", "✗ workflow timed_out: release 1.2"],
    ["cancelled", "⊘ workflow cancelled: release 1.2"],
  ])("of a result says that the run is %s", (runStatus, head) => {
    expect(texts({ ...RESULT, runStatus }, false)[0]).toBe(head);
  });

  test("names the workflow where there is no title, and cuts a long summary", () => {
    const [head, summary] = texts({ ...STEP, runTitle: "", summary: "x".repeat(900) }, false);
    expect(head).toContain("step: release · draft");
    expect(summary?.length).toBe(240);
  });

  test("shows no control characters", () => {
    const [head, summary] = texts({ ...STEP, runTitle: "a\u001b[2J", summary: "b\nc" }, false);
    expect(head).toContain(String.raw`a\x1b[2J`);
    expect(summary).toBe(String.raw`b\nc`);
  });
});

describe("an expanded card", () => {
  test("is the head and the whole text", () => {
    const lines = ["◇ workflow step: release 1.2 · draft", "line 1", "line 2", "line 3", "line 4"];
    expect(texts(STEP, true)).toEqual(lines);
  });

  test("of a decision says everything once, and the time as elsewhere", () => {
    const text =
      "Choices:\n- yes: Publish\n\nType /workflow decide int_1 before 2025-01-02T00:00:00.000Z.";
    const lines = texts(DECISION, true, text);
    expect(lines.filter((line) => line.includes("decide int_1"))).toHaveLength(1);
    expect(lines.join("\n")).not.toContain("choices: ");
    expect(lines.at(-1)).toMatch(/before 2025-01-0\d \d\d:00:00\.$/);
  });

  test("of a result leaves out what its head says", () => {
    const text = 'Workflow "release 1.2" has completed.\n\nRun run_1 of workflow release.';
    expect(texts(RESULT, true, text).slice(1)).toEqual(["Run run_1 of workflow release."]);
  });

  test("of a decision still says how to decide", () => {
    expect(texts(DECISION, true).at(-1)).toContain("/workflow decide int_1");
  });
});

describe("the renderer", () => {
  const theme = { fg: (_: string, text: string) => text, bg: (_: string, text: string) => text };
  const plain = { ...theme, bold: (text: string) => text } as never;
  const message = (details: unknown, content: unknown = TEXT) =>
    ({ role: "custom", customType: MESSAGE_TYPE, content, display: true, details }) as never;
  const options = (expanded: boolean) =>
    ({ expanded, outputPad: 1, keyHint: () => "ctrl+o to expand", keyText: () => "" }) as const;

  test("is registered for our messages", () => {
    const types: string[] = [];
    registerCards({ registerMessageRenderer: (type) => void types.push(type) });
    expect(types).toEqual(["workflow"]);
  });

  test("fits every width, and tells how to expand", () => {
    for (const width of [4, 20, 80]) {
      for (const expanded of [false, true]) {
        const card = renderCard(message(DECISION), options(expanded), plain);
        const lines = card?.render(width) ?? [];
        expect(lines.length).toBeGreaterThan(0);
        expect(lines.every((line) => visibleWidth(line) <= width)).toBe(true);
      }
    }
    const wide = renderCard(message(STEP), options(false), plain)?.render(100).join("\n");
    expect(wide).toContain("(ctrl+o to expand)");
  });

  test("takes a text in parts, too", () => {
    const parts = [{ type: "text", text: "from parts" }];
    const card = renderCard(message({ ...STEP, summary: "" }, parts), options(false), plain);
    expect(card?.render(80).join("\n")).toContain("from parts");
  });

  test("leaves what is not ours to Pi", () => {
    expect(renderCard(message({ id: 1 }), options(false), plain)).toBeUndefined();
  });
});
