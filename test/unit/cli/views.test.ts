import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { answerOf, choicesOf } from "../../../src/client/answer-choices.ts";
import { toValue } from "../../../src/cli/values.ts";
import { typingHint } from "../../../src/cli/views/question.ts";
import { runLines } from "../../../src/cli/views/run-view.ts";
import { valueLines } from "../../../src/client/value-lines.ts";
import { AttemptStatus } from "../../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { EffectStatus } from "../../../src/gen/piworkflows/common/v1/effect_pb.ts";
import {
  BlockReason,
  RunStatus,
  RunViewSchema,
} from "../../../src/gen/piworkflows/common/v1/run_pb.ts";

type View = MessageInitShape<typeof RunViewSchema>;

const NOW = Date.UTC(2025, 0, 31, 12);
const RUN = "run_01jd0000000000000000000001";
const ago = (seconds: number) => timestampFromMs(NOW - seconds * 1_000);

const plain = {
  runId: RUN,
  workflow: "notes",
  title: "notes for v1",
  createdAt: ago(75),
  updatedAt: ago(3),
  projectDir: "/p",
};

async function shown(view: View): Promise<string> {
  const lines = await runLines(create(RunViewSchema, view), {
    now: NOW,
    columns: 100,
    style: (_format, text) => text,
  });
  return lines.map((line) => line.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, "TIME")).join("\n");
}

describe("a run is shown", () => {
  test("with its nodes, what it waits for, and what to type", async () => {
    const text = await shown({
      summary: {
        ...plain,
        status: RunStatus.WAITING,
        node: "approve",
        steps: 3,
        interactionId: "int_1",
      },
      workflowPath: "/p/notes.workflow.ts",
      attempts: [
        attempt("collect", AttemptStatus.OK, [70, 69]),
        {
          ...attempt("draft", AttemptStatus.FAILED, [69, 60]),
          error: { name: "TypeError", message: "no\n\u001b[2Jx" },
        },
        { ...attempt("draft", AttemptStatus.OK, [60, 20]), attempt: 2 },
        { ...attempt("approve", AttemptStatus.WAITING, [20]), visit: 2 },
      ],
      interaction: {
        interactionId: "int_1",
        summary: "Publish?",
        deadlineAt: ago(-3_700),
        request: toValue("", { title: "Notes", body: "# One\n\n- two\u001b[2J" }),
        schema: toValue("", { enum: ["yes", "no"] }),
      },
    });
    expect(text).toBe(`waiting  ${RUN}  notes for v1
  workflow  notes  /p/notes.workflow.ts
  project   /p
  started   TIME (1 min ago)
  at        approve after 3 visits

Nodes
  ok       collect           1.0 s
  failed   draft             9.0 s  TypeError: no\\n\\x1b[2Jx
  ok       draft    try 2     40 s
  waiting  approve  visit 2   20 s

Waits for an answer: Publish? (expires in 1 h 2 min)
  title: Notes
  body:
    # One

    - two\\x1b[2J
  the answer is one of: yes, no
  pi-workflows answer int_1`);
  });

  test("with its result, which is cut where it says so", async () => {
    const text = await shown({
      summary: { ...plain, status: RunStatus.COMPLETED, finishedAt: ago(5) },
      result: toValue("", { a: [1, "\u009b"] }),
    });
    expect(text).toContain(`completed  ${RUN}  notes for v1`);
    expect(text).toContain("took      1 min 10 s");
    expect(text).toContain('Result\n  {\n    "a": [\n      1,\n      "\\u009b"\n    ]\n  }');
    const cut = await shown({
      summary: { ...plain, status: RunStatus.COMPLETED },
      result: toValue("", '{"a":"xxx'),
      resultTruncated: true,
    });
    expect(cut).toContain(`Result\n  {"a":"xxx\n  … whole: pi-workflows show ${RUN} --result`);
  });

  test("with its error and where it was thrown", async () => {
    const text = await shown({
      summary: { ...plain, status: RunStatus.FAILED, finishedAt: ago(5) },
      error: {
        name: "Error",
        message: "no network",
        stack: "Error: no network\n    at f (/p/x.ts:3:1)",
      },
    });
    expect(text.endsWith("Error\n  Error: no network\n      at f (/p/x.ts:3:1)")).toBe(true);
  });

  test.each([
    [
      BlockReason.SOURCE_CHANGED,
      ["changed: /p/a.ts", "resume RUN --recorded-source", "resume RUN --accept-source"],
    ],
    [BlockReason.NO_PROGRESS, ["resume RUN"]],
  ])("with the ways out of block reason %d", async (blockReason, expected) => {
    const text = await shown({
      summary: { ...plain, status: RunStatus.BLOCKED, blockReason, detail: "why it is" },
      changedFiles: blockReason === BlockReason.SOURCE_CHANGED ? ["/p/a.ts"] : [],
    });
    expect(text).toContain("blocked: why it is");
    for (const line of expected) expect(text).toContain(line.replace("RUN", RUN));
  });

  test("with the node that blocks its worker's loop, and that it pauses", async () => {
    const text = await shown({
      summary: {
        ...plain,
        status: RunStatus.RUNNING,
        pauseRequested: true,
        loopBlock: { node: "spin", since: ago(12), cpuTime: { seconds: 11n, nanos: 0 } },
      },
      attempts: [attempt("spin", AttemptStatus.RUNNING, [30])],
      progress: [{ node: "spin", text: "file 3 of 9", at: ago(13) }],
      outputTail: "one\n\u001b[31mtwo\n",
    });
    expect(text).toMatch(/^pausing {2}/);
    expect(text).toContain("running  spin    30 s  file 3 of 9");
    expect(text).toContain("spin has blocked its worker's loop for 12 s (11 s of processor time)");
    expect(text).toContain("Output\n  one\n  \\x1b[31mtwo");
  });

  test("without an update that belongs to an earlier visit", async () => {
    const text = await shown({
      summary: { ...plain, status: RunStatus.RUNNING, statusDetail: "thinking" },
      attempts: [attempt("spin", AttemptStatus.RUNNING, [5])],
      progress: [{ node: "spin", text: "old news", at: ago(60) }],
    });
    expect(text).not.toContain("old news");
    expect(text).toContain("thinking");
  });

  test("with the time a timer goes off", async () => {
    const text = await shown({
      summary: { ...plain, status: RunStatus.WAITING, dueAt: ago(-7_300) },
    });
    expect(text).toContain("Goes on in 2 h 2 min (TIME).");
  });
});

describe("what only a person can settle", () => {
  const effect = {
    effectId: "eff_1",
    type: "charge",
    node: "pay",
    status: EffectStatus.AMBIGUOUS,
  };
  const commands = [
    "pi-workflows effects resolve eff_1 --applied JSON",
    "pi-workflows effects resolve eff_1 --not-applied",
  ];
  const retry = "pi-workflows effects resolve eff_1 --retry";

  test("blocks the node, whose clock stands, and is told with all that can be said", async () => {
    const blockReason = BlockReason.EFFECT_AMBIGUOUS;
    const text = await shown({
      summary: { ...plain, status: RunStatus.BLOCKED, blockReason, detail: "lost" },
      attempts: [attempt("pay", AttemptStatus.WAITING, [90])],
      effects: [effect],
    });
    expect(text).toMatch(/^ {2}blocked {2}pay$/m);
    expect(text).toContain("blocked: lost");
    for (const line of [...commands, retry]) expect(text).toContain(line);
  });

  test("is told of a run that has ended, too, which does nothing again", async () => {
    const text = await shown({
      summary: { ...plain, status: RunStatus.CANCELLED, detail: "wrong branch" },
      effects: [effect],
    });
    expect(text).toContain("note      wrong branch");
    expect(text).toContain("The run ended with an effect whose outcome is unknown");
    for (const line of commands) expect(text).toContain(line);
    expect(text).not.toContain(retry);
  });

  test("is nothing where a queued run only waits for its turn", async () => {
    const text = await shown({
      summary: { ...plain, status: RunStatus.QUEUED, dueAt: ago(9) },
    });
    expect(text).toContain("Is due since TIME and goes on as soon as it gets its turn.");
  });
});

describe("a typed answer", () => {
  const choices = { enum: ["yes", "no"] };

  test.each([
    ["2", choices, "no"],
    ["yes", choices, "yes"],
    [" maybe ", choices, "maybe"],
    ["12", { type: "string" }, "12"],
    ["12", null, 12],
    ['{"a":1}', {}, { a: 1 }],
    ["go on", { type: "object" }, "go on"],
    ["1", { oneOf: [{ const: "a" }, { const: "b" }] }, "a"],
    ["2", { type: "boolean" }, false],
    ["true", { type: "boolean" }, true],
    ["2", { enum: [3, 2, 1] }, 2],
    ["2", { enum: ["3", "2"] }, "2"],
  ])("%j under %j means %j", (typed, schema, answer) => {
    expect(answerOf(typed, schema)).toEqual(answer);
  });

  test("has numbered choices only where a schema allows nothing else than plain values", () => {
    const yes = { label: "yes", value: "yes", number: 1 };
    expect(choicesOf({ enum: ["yes", null] })).toEqual([
      yes,
      { label: "null", value: null, number: 2 },
    ]);
    expect(choicesOf({ enum: ["a", 1] })).toEqual([
      { label: "a", value: "a" },
      { label: "1", value: 1 },
    ]);
    expect(choicesOf({ enum: ["a", {}] })).toEqual([]);
    expect(choicesOf({ oneOf: [{ const: "a" }, { type: "number" }] })).toEqual([]);
    expect(choicesOf(null)).toEqual([]);
  });

  test.each([
    [choices, "type a number or a choice"],
    [{ enum: [1, 2] }, "type one of them"],
    [{ type: "string" }, "type the text"],
    [{ type: ["string", "null"] }, "type JSON, or plain text"],
    [null, "type JSON, or plain text"],
    [{ type: "object" }, "type JSON"],
    [{ required: ["a"] }, "type JSON"],
  ])("under %j is asked for by: %s", (schema, hint) => {
    expect(typingHint(schema)).toBe(hint);
  });
});

describe("a value for a person", () => {
  test.each([
    [null, ["null"]],
    ["a\nb\u001b", ["a", "b\\x1b"]],
    [{ a: 1, b: ["x"] }, ["a: 1", 'b: ["x"]']],
    [{ a: 1 }, ['{"a":1}']],
    [
      [{ a: "x\ny" }, 2],
      ["-", "  a:", "    x", "    y", "- 2"],
    ],
    [{ "k\n": { deep: { er: 1 } } }, ["k\\n:", '  deep: {"er":1}']],
  ])("%j is shown as %j", (value, lines) => {
    expect(valueLines(value)).toEqual(lines);
  });
});

function attempt(node: string, status: AttemptStatus, [from, to]: readonly number[]) {
  const finished = to === undefined ? {} : { finishedAt: ago(to) };
  return {
    attemptId: `att_${node}`,
    node,
    status,
    visit: 1,
    attempt: 1,
    startedAt: ago(from ?? 0),
    ...finished,
  };
}
