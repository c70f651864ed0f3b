import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, onTestFinished, test } from "vitest";
import { sessionFileOf, shellWord } from "../../../src/cli/session-file.ts";
import { toValue } from "../../../src/cli/values.ts";
import { runLines, stateLines } from "../../../src/cli/views/run-view.ts";
import { answerCommand, closedWords, deliveryWords } from "../../../src/cli/views/waiting.ts";
import {
  DeliveryState,
  InteractionKind,
  InteractionSchema,
  InteractionStatus,
} from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import type { Interaction } from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import {
  RunMode,
  RunStatus,
  RunViewSchema,
} from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { localTime } from "../../../src/platform/text.ts";
import { stateFolder } from "../../support/fake-host.ts";

const NOW = Date.UTC(2025, 0, 31, 12);
const RUN = "run_01jd0000000000000000000001";
const frame = {
  now: NOW,
  columns: 100,
  style: (_format: unknown, text: string) => text,
  sessionFile: () => "/s/one.jsonl",
};

const { AGENT, REPLY, CHECKPOINT, HUMAN_DECISION } = InteractionKind;
const { PENDING, ACCEPTED, EXPIRED, CANCELLED, VALIDATING } = InteractionStatus;
const { WAITING, OFFERED, DELIVERED, WORKING, HELD, UNSPECIFIED } = DeliveryState;

type Fields = Omit<MessageInitShape<typeof InteractionSchema>, "$typeName">;

function interaction(fields: Fields): Interaction {
  return create(InteractionSchema, {
    interactionId: "int_1",
    summary: "Ship it?",
    status: PENDING,
    ...fields,
  });
}

function view(fields: Fields, mode: RunMode = RunMode.HEADLESS) {
  const summary = { runId: RUN, title: "t", status: RunStatus.WAITING, mode, originSession: "s-1" };
  return create(RunViewSchema, {
    summary: { ...summary, interactionId: "int_1" },
    interaction: interaction(fields),
  });
}

const CHOICES = [
  { id: "ship", label: "Ship\u001b it" },
  {
    id: "back",
    label: "Send back",
    input: { name: "comment", prompt: "What should change?", minLength: 10, maxLength: 500 },
  },
];

describe("what a run waits for", () => {
  test("is a person's decision, with its choices and what they ask for", () => {
    const deadlineAt = timestampFromMs(NOW + 3_600_000);
    const lines = stateLines(
      view({ kind: HUMAN_DECISION, choices: CHOICES, deadlineAt, hasDefault: true }),
      frame,
    );
    expect(lines.join("\n")).toBe(`
Waits for a person's decision: Ship it? (the default is taken in 1 h)
  - Ship\\x1b it (ship)
  - Send back (back), with a text of 10 to 500 characters
  pi-workflows decide int_1`);
  });

  test("is a model, with who works on it, how to read along and why the last result was rejected", () => {
    const fields = { kind: AGENT, delivery: WORKING, lastError: "no such file" };
    expect(stateLines(view(fields), frame).join("\n")).toBe(`
Waits for a model: Ship it?
  a Pi works on it
  read along: pi --session /s/one.jsonl --no-extensions
  the newest result was rejected: no such file
  pi-workflows submit int_1 JSON`);
  });

  test("is a model's reply, which no command gives", () => {
    const text = stateLines(view({ kind: REPLY, sessionId: "s-1", delivery: DELIVERED }), frame);
    expect(text.slice(1)).toEqual([
      "Waits for a model's reply: Ship it?",
      "  is shown in session s-1",
    ]);
  });

  test.each([
    [CHECKPOINT, "pi-workflows answer int_1"],
    [AGENT, "pi-workflows submit int_1 JSON"],
    [HUMAN_DECISION, "pi-workflows decide int_1"],
    [REPLY, ""],
  ])("of kind %d is answered with %j", (kind, command) => {
    expect(answerCommand({ kind, interactionId: "int_1" })).toBe(command);
  });

  test.each([
    [
      WAITING,
      "waits for a Pi of its own",
      "waits for its turn in session s-1, or for that session to be opened",
    ],
    [OFFERED, "was handed to a Pi", "is shown in session s-1"],
    [DELIVERED, "was handed to a Pi", "is shown in session s-1"],
    [WORKING, "a Pi works on it", "the model works on it in session s-1"],
    [UNSPECIFIED, "", ""],
  ])("tells delivery %d as %j, or as %j", (delivery, headless, inSession) => {
    expect(deliveryWords(interaction({ kind: AGENT, delivery }), NOW)).toBe(headless);
    const shown = interaction({ kind: AGENT, delivery, sessionId: "s-1" });
    expect(deliveryWords(shown, NOW)).toBe(inSession);
  });

  test("tells until when it is held back, and that a result is being checked", () => {
    const heldUntil = timestampFromMs(NOW + 120_000);
    const words = deliveryWords(interaction({ kind: AGENT, delivery: HELD, heldUntil }), NOW);
    expect(words).toBe(`is held back until ${localTime(NOW + 120_000)} (in 2 min)`);
    const checked = interaction({ kind: AGENT, status: VALIDATING, delivery: WORKING });
    expect(deliveryWords(checked, NOW)).toBe("a result of it is being checked");
  });
});

describe("a run's facts", () => {
  test("say that it is headless and how its session is read", async () => {
    const text = (await runLines(view({ kind: AGENT }), frame)).join("\n");
    expect(text).toMatch(/^ {2}mode {6}headless: the host starts a Pi/m);
    expect(text).toMatch(/^ {2}session {3}pi --session \/s\/one\.jsonl --no-extensions$/m);
  });

  test("say in which session its steps are shown", async () => {
    const text = (await runLines(view({ kind: AGENT }, RunMode.SESSION), frame)).join("\n");
    expect(text).toMatch(/^ {2}mode {6}in session s-1$/m);
    expect(text).not.toContain("pi --session");
  });
});

describe("the session of a headless run", () => {
  test("is its newest file, once there is one", () => {
    const { paths, remove } = stateFolder();
    onTestFinished(remove);
    expect(sessionFileOf(paths, RUN)).toBeUndefined();
    const folder = join(paths.piSessionsDir, RUN);
    mkdirSync(folder, { recursive: true });
    expect(sessionFileOf(paths, RUN)).toBeUndefined();
    for (const name of ["2025-02.jsonl", "2025-01.jsonl", "z.txt"]) {
      writeFileSync(join(folder, name), "");
    }
    expect(sessionFileOf(paths, RUN)).toBe(join(folder, "2025-02.jsonl"));
  });

  test.each([
    ["/a/b-1_2.jsonl", "/a/b-1_2.jsonl"],
    ["/a b/$x", "'/a b/$x'"],
    ["it's", String.raw`'it'\''s'`],
  ])("%j is written for a shell as %s", (text, word) => {
    expect(shellWord(text)).toBe(word);
  });
});

describe("a request that somebody else closed", () => {
  test.each<[Fields, string]>([
    [
      {
        kind: HUMAN_DECISION,
        choices: CHOICES,
        answer: toValue("", { choice: "ship" }),
        answeredBy: "pi",
      },
      '"Ship it?" was decided meanwhile: Ship\\x1b it (by pi)',
    ],
    [
      {
        kind: HUMAN_DECISION,
        choices: CHOICES,
        answer: toValue("", { choice: "back", comment: "more\ntests" }),
        answeredBy: "policy",
      },
      '"Ship it?" was decided meanwhile: Send back ("more\\ntests") (the default, as nobody decided in time)',
    ],
    [
      { kind: CHECKPOINT, answer: toValue("", { ok: true }), answeredBy: "cli" },
      '"Ship it?" was answered meanwhile: {"ok":true} (by cli)',
    ],
    [{ status: EXPIRED }, '"Ship it?" expired meanwhile'],
    [{ status: CANCELLED }, '"Ship it?" was withdrawn meanwhile'],
  ])("is told: %#", (fields, words) => {
    expect(closedWords(interaction({ status: ACCEPTED, ...fields }))).toBe(words);
  });
});
