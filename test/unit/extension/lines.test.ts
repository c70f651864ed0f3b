import { visibleWidth } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import { cutColumns, fitLine } from "../../../src/extension/columns.ts";
import {
  ENDED_SHOWN_MS,
  endedUntil,
  plainPaint,
  runLine,
  WIDGET_LINES_MAX,
  widgetLines,
} from "../../../src/extension/run-lines.ts";
import type { Paint } from "../../../src/extension/run-lines.ts";
import { InteractionKind } from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { RunStatus } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { SessionRun } from "../../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import { ago, NOW, pictureOf, sessionRun } from "../../support/extension-fakes.ts";

const WIDE = { width: 200, now: NOW, paint: plainPaint };
const line = (run: SessionRun, width = 200): string => runLine(run, { ...WIDE, width });

/** Each role as an escape sequence, so that a width that counted them would show. */
const colours: Paint = (role, text) => `\u001b[3${role.length % 8}m${text}\u001b[39m`;

const DECISION = {
  status: RunStatus.WAITING,
  interactionId: "int_1",
  interactionKind: InteractionKind.HUMAN_DECISION,
};

describe("the line of a run", () => {
  test("says title, node with its step, detail, update and time", () => {
    const run = sessionRun({ statusDetail: "writing" }, { update: "3 of 8 files" });
    expect(line(run)).toBe("▶ release 1.2 · draft (step 3) · writing · 3 of 8 files · 2 min 0 s");
  });

  test("falls back to the workflow's name for a run without a title", () => {
    expect(line(sessionRun({ title: "", node: "", steps: 0 }))).toBe("▶ release · 2 min 0 s");
  });

  test("says what is waited for, and what the user can type", () => {
    const decision = sessionRun(DECISION, { waitsFor: "a person's decision" });
    expect(line(decision)).toContain("waits for a person's decision: /workflow decide");
    const question = sessionRun(
      { ...DECISION, interactionKind: InteractionKind.CHECKPOINT },
      { waitsFor: "an answer" },
    );
    expect(line(question)).toContain("waits for an answer: /workflow answer");
    const step = sessionRun(
      { ...DECISION, interactionKind: InteractionKind.AGENT },
      { waitsFor: "a result of the model" },
    );
    expect(line(step)).toMatch(/waits for a result of the model ·/);
  });

  test("says behind which request it waits, and how that one is settled", () => {
    const run = sessionRun(DECISION, { waitsFor: "a person's decision", behind: true });
    const lineBehind = (front: object, width = 200): string | undefined => {
      const asking = { runId: "run_2", title: "ask about the tests", interactionId: "int_2" };
      const first = sessionRun({ status: RunStatus.WAITING, ...asking, ...front });
      return widgetLines(pictureOf({ runs: [run, first] }), { ...WIDE, width })[0];
    };
    expect(lineBehind({ interactionKind: InteractionKind.CHECKPOINT })).toContain(
      `waits for a person's decision, behind "ask about the tests": /workflow answer · `,
    );
    expect(lineBehind({ interactionKind: InteractionKind.HUMAN_DECISION })).toContain(
      `behind "ask about the tests": /workflow decide`,
    );
    expect(lineBehind({ interactionKind: InteractionKind.AGENT })).toContain(
      `behind "ask about the tests" · `,
    );
    expect(lineBehind({ interactionKind: InteractionKind.CHECKPOINT }, 72)).toContain(
      `behind "ask about the tests": /workflow answer`,
    );
    expect(line(run)).toContain("waits for a person's decision (another request comes first)");
    expect(line(run)).not.toContain("/workflow");
  });

  test("has one sign for you, another for the model, and one for nobody", () => {
    const first = (kind: InteractionKind, fields = {}): string | undefined =>
      line(sessionRun({ ...DECISION, interactionKind: kind }, fields))[0];
    expect(first(InteractionKind.HUMAN_DECISION)).toBe("●");
    expect(first(InteractionKind.CHECKPOINT)).toBe("●");
    expect(first(InteractionKind.AGENT)).toBe("◇");
    expect(first(InteractionKind.REPLY)).toBe("◇");
    expect(first(InteractionKind.HUMAN_DECISION, { behind: true })).toBe("○");
    expect(line(sessionRun({ status: RunStatus.WAITING }))[0]).toBe("○");
  });

  test("says when a timer or a start is due", () => {
    const due = { dueAt: ago(-90_000) };
    expect(
      line(sessionRun({ status: RunStatus.WAITING, ...due }, { waitsFor: "a time" })),
    ).toContain("goes on in 1 min 30 s");
    expect(line(sessionRun({ status: RunStatus.QUEUED, ...due }))).toContain(
      "starts in 1 min 30 s",
    );
    expect(line(sessionRun({ status: RunStatus.QUEUED, dueAt: ago(1) }))).toContain("queued");
  });

  test("tells of the check of a submission although the run is queued", () => {
    const run = sessionRun(
      { status: RunStatus.QUEUED },
      { waitsFor: "the check of the submitted result" },
    );
    expect(line(run)).toContain("waits for the check of the submitted result");
  });

  test.each([
    [RunStatus.PAUSED, "‖ release 1.2 · draft (step 3) · paused: /workflow resume"],
    [RunStatus.BLOCKED, "! release 1.2 · draft (step 3) · blocked: a.ts changed"],
    [RunStatus.COMPLETED, "✓ release 1.2 · completed"],
    [RunStatus.FAILED, "✗ release 1.2 · failed: a.ts changed"],
    [RunStatus.TIMED_OUT, "✗ release 1.2 · timed_out: a.ts changed"],
    [RunStatus.CANCELLED, "⊘ release 1.2 · cancelled: a.ts changed"],
  ])("of status %s begins with its sign", (status, beginning) => {
    const detail = status === RunStatus.COMPLETED ? "" : "a.ts changed";
    const finishedAt = status >= RunStatus.COMPLETED ? { finishedAt: ago(1_000) } : {};
    expect(line(sessionRun({ status, detail, ...finishedAt }))).toContain(beginning);
  });

  test("shows a pause that waits for an effect", () => {
    expect(line(sessionRun({ pauseRequested: true }))).toContain("pausing");
  });

  test("stops the time of a run that has ended", () => {
    const run = sessionRun({ status: RunStatus.COMPLETED, finishedAt: ago(60_000) });
    expect(line(run)).toMatch(/1 min 0 s$/);
  });

  test("lets nothing move the cursor", () => {
    const run = sessionRun({ title: "a\u001b[2Jb\nc" }, { update: "x\ry" });
    expect(line(run)).toContain(String.raw`a\x1b[2Jb\nc`);
    expect(line(run)).toContain(String.raw`x\ry`);
  });

  test("is empty when the host told nothing", () => {
    expect(runLine({ ...sessionRun(), summary: undefined }, WIDE)).toBe("");
  });
});

describe("a narrow line", () => {
  const run = sessionRun(
    { ...DECISION, statusDetail: "x" },
    {
      waitsFor: "a person's decision",
      update: "three of eight files are read",
    },
  );

  test("gives up the update, then the time, then the step, and keeps what is waited for", () => {
    expect(line(run, 92)).toBe(
      "● release 1.2 · draft (step 3) · waits for a person's decision: /workflow decide · 2 min 0 s",
    );
    expect(line(run, 80)).toBe(
      "● release 1.2 · draft (step 3) · waits for a person's decision: /workflow decide",
    );
    expect(line(run, 72)).toBe(
      "● release 1.2 · draft · waits for a person's decision: /workflow decide",
    );
    expect(line(run, 60)).toBe("● release 1.2 · draft · your decision: /workflow decide");
    expect(line(run, 40)).toBe("● release 1.2 · draft · your decision");
  });

  test("shortens what is waited for before the title, whoever is waited for", () => {
    const title = "improve the tests of the parser";
    const at60 = (fields: object, waitsFor: string): string =>
      line(sessionRun({ ...DECISION, title, ...fields }, { waitsFor }), 60);
    expect(at60({}, "a person's decision")).toBe(`● ${title} · draft · your decision`);
    const model = { interactionKind: InteractionKind.AGENT };
    expect(at60({ ...model, delivery: 4 }, "a result of the model")).toBe(
      `◇ ${title} · draft · model works`,
    );
    expect(at60(model, "a result of the model")).toBe(`◇ ${title} · draft · for the model`);
    expect(at60(model, "the provider's usage limit")).toContain(`${title} · draft · the provider`);
  });

  test("shortens a long title before it hides what is going on", () => {
    const long = sessionRun(
      { ...DECISION, title: "an endless title ".repeat(20) },
      {
        waitsFor: "a person's decision",
      },
    );
    const shown = line(long, 80);
    expect(shown).toContain("/workflow decide");
    expect(shown).toMatch(/^● an endless ti.*…/);
  });

  const titles = [
    "plain",
    "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字",
    "👩‍👩‍👧‍👦 family 🇩🇪 flag é́ combining",
    "x".repeat(150),
    "",
  ];
  test.each(titles)("is never wider than the terminal, with the title %j", (title) => {
    for (const status of Object.values(RunStatus)) {
      const odd = sessionRun(
        { title, node: title, status, detail: title, statusDetail: title, interactionId: "int_1" },
        { update: title, waitsFor: title },
      );
      for (const width of [0, 1, 2, 3, 7, 12, 19, 28, 40, 61, 80, 119]) {
        const painted = runLine(odd, { width, now: NOW, paint: colours });
        expect(visibleWidth(painted)).toBeLessThanOrEqual(width);
        expect(painted).not.toContain("\n");
      }
    }
  });
});

describe("the lines of a picture", () => {
  const many = (count: number): SessionRun[] =>
    Array.from({ length: count }, (_, index) => sessionRun({ runId: `run_${index}` }));
  const ended = sessionRun({
    runId: "run_9",
    status: RunStatus.COMPLETED,
    createdAt: ago(50_000),
    finishedAt: ago(10_000),
  });

  test("are none without a picture or without runs", () => {
    expect(widgetLines(undefined, WIDE)).toEqual([]);
    expect(widgetLines(pictureOf({}), WIDE)).toEqual([]);
  });

  test("are one for each run, ten at most, the last of which counts the rest", () => {
    expect(widgetLines(pictureOf({ runs: many(10) }), WIDE)).toHaveLength(10);
    const lines = widgetLines(pictureOf({ runs: many(14) }), WIDE);
    expect(lines).toHaveLength(WIDGET_LINES_MAX);
    expect(lines.at(-1)).toBe("… and 5 more: /workflow status");
  });

  test("count the rest within the width, too", () => {
    const lines = widgetLines(pictureOf({ runs: many(14) }), { ...WIDE, width: 10 });
    expect(lines.map(visibleWidth).every((width) => width <= 10)).toBe(true);
  });

  test("show a run that ended for sixty seconds", () => {
    const picture = pictureOf({ ended });
    expect(widgetLines(picture, WIDE)).toHaveLength(1);
    expect(endedUntil(picture)).toBe(NOW - 10_000 + ENDED_SHOWN_MS);
    const last = NOW + 50_000;
    expect(widgetLines(picture, { ...WIDE, now: last - 1 })).toHaveLength(1);
    expect(widgetLines(picture, { ...WIDE, now: last })).toEqual([]);
  });

  test("show it after the runs that go on, unless it was cleared or a newer one has started", () => {
    const before = sessionRun({ createdAt: ago(40_000) });
    const lines = widgetLines(pictureOf({ runs: [before], ended }), WIDE);
    expect(lines.map((text) => text[0])).toEqual(["▶", "✓"]);
    expect(widgetLines(pictureOf({ runs: [before], ended }), WIDE, "run_9")).toHaveLength(1);
    const newer = sessionRun({ createdAt: ago(5_000) });
    expect(widgetLines(pictureOf({ runs: [newer], ended }), WIDE)).toHaveLength(1);
  });
});

describe("cutting", () => {
  test("keeps letters whole and marks the cut", () => {
    expect(cutColumns("hello", 5)).toBe("hello");
    expect(cutColumns("hello!", 5)).toBe("hell…");
    expect(cutColumns("漢字漢", 5)).toBe("漢字…");
    expect(cutColumns("漢字漢", 4)).toBe("漢…");
    expect(cutColumns("a", 0)).toBe("");
  });

  test("of a coloured line does not count its colours", () => {
    const coloured = colours("accent", "hello");
    expect(fitLine(coloured, 5)).toBe(coloured);
    expect(visibleWidth(fitLine(coloured, 3))).toBe(3);
  });
});
