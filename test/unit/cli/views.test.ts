import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { answerOf, choicesOf } from "../../../src/cli/prompt.ts";
import { toValue } from "../../../src/cli/values.ts";
import { runLines } from "../../../src/cli/views/run-view.ts";
import { AttemptStatus } from "../../../src/gen/piworkflows/common/v1/attempt_pb.ts";
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
      interaction: { interactionId: "int_1", summary: "Publish?", deadlineAt: ago(-3_700) },
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

Waits for an answer: Publish? (expires in 1 h)
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
    [BlockReason.EFFECT_AMBIGUOUS, ["effects list --run RUN"]],
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
    expect(text).toContain("Goes on in 2 h (TIME).");
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
  ])("%j under %j means %j", (typed, schema, answer) => {
    expect(answerOf(typed, schema)).toEqual(answer);
  });

  test("has choices only where a schema allows nothing else than texts", () => {
    expect(choicesOf({ enum: ["a", 1] })).toEqual([]);
    expect(choicesOf({ oneOf: [{ const: "a" }, { type: "number" }] })).toEqual([]);
    expect(choicesOf(null)).toEqual([]);
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
