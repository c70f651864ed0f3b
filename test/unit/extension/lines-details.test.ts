/** The details of a run: their lines, and the screen that follows the host. */
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Component } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import { jsonValue } from "../../../src/client/json-value.ts";
import { detailLines } from "../../../src/extension/detail-lines.ts";
import { showRun } from "../../../src/extension/run-details.ts";
import { AttemptStatus } from "../../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { Reason } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";
import {
  DeliveryState,
  InteractionKind,
} from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { RunStatus, RunViewSchema } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { ago, FakeLink, FakePlace, NOW, sessionRun } from "../../support/extension-fakes.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { refusal } from "../../support/fake-host.ts";
import { until } from "../../support/pi/until.ts";

async function aborted(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => {
    signal.addEventListener("abort", resolve, { once: true });
  });
}

type View = Omit<MessageInitShape<typeof RunViewSchema>, "$typeName">;

const texts = (view: View): string =>
  detailLines(create(RunViewSchema, view), NOW)
    .map(({ text }) => text)
    .join("\n");

describe("the lines about a run", () => {
  test("say where it is, and what its attempts did", () => {
    const shown = texts({
      summary: sessionRun({ status: RunStatus.RUNNING, dueAt: ago(-60_000) }).summary,
      progress: [{ node: "draft", text: "half" }],
      attempts: [
        {
          node: "collect",
          status: AttemptStatus.OK,
          startedAt: ago(9_000),
          finishedAt: ago(8_000),
        },
        {
          node: "draft",
          visit: 2,
          attempt: 3,
          status: AttemptStatus.FAILED,
          startedAt: ago(5_000),
          error: { name: "TypeError", message: "no tag" },
        },
      ],
    });
    for (const part of [
      "▶ running run_1 release 1.2",
      "draft (step 3)",
      "update    half",
      "goes on   in 1 min",
      "ok          collect  1.0 s",
      "failed      draft visit 2 try 3  5.0 s  TypeError: no tag",
    ]) {
      expect(shown).toContain(part);
    }
  });

  test("say who answers what is asked, until when, and what was wrong", () => {
    const asked = (kind: InteractionKind, fields: object = {}): string =>
      texts({
        summary: sessionRun({ status: RunStatus.WAITING, interactionId: "int_1" }).summary,
        interaction: { interactionId: "int_1", kind, summary: "which tag?", ...fields },
      });
    expect(asked(InteractionKind.AGENT, { lastError: "too short", reminders: 2 })).toMatch(
      /a model's result: which tag\?[\s\S]*too short[\s\S]*2 times/,
    );
    expect(asked(InteractionKind.REPLY)).toContain("what the model says");
    expect(asked(InteractionKind.CHECKPOINT)).toContain("/workflow answer int_1");
    const held = { delivery: DeliveryState.HELD, heldUntil: ago(-60_000) };
    expect(asked(InteractionKind.AGENT, held)).toContain("goes on in 1 min");
    const decision = asked(InteractionKind.HUMAN_DECISION, {
      deadlineAt: ago(-60_000),
      hasDefault: true,
    });
    expect(decision).toContain("/workflow decide int_1");
    expect(decision).toMatch(/default at .*\(in 1 min\)/);
  });

  test("say what hinders it, and how to help", () => {
    const blocked = texts({
      summary: sessionRun({ status: RunStatus.BLOCKED, detail: "changed", ambiguousEffects: 1 })
        .summary,
      changedFiles: ["/p/a.ts"],
    });
    expect(blocked).toMatch(/blocked: changed\nchanged: \/p\/a\.ts\n1 effect with an unknown/);
    const paused = texts({ summary: sessionRun({ status: RunStatus.PAUSED }).summary });
    expect(paused).toContain("/workflow resume run_1");
  });

  test("end with the result or the error", () => {
    const summary = sessionRun({ status: RunStatus.COMPLETED, finishedAt: ago(0) }).summary;
    expect(texts({ summary, result: jsonValue({ a: 1 }) })).toMatch(
      /took[\s\S]*result: \{"a":1\}$/,
    );
    const failed = sessionRun({ status: RunStatus.FAILED }).summary;
    const error = { name: "model_error", message: "three times" };
    expect(texts({ summary: failed, error })).toMatch(/model_error: three times$/);
    expect(texts({})).toBe("");
  });
});

describe("the screen that follows a run", () => {
  class TuiPlace extends FakePlace {
    override mode = "tui" as const;
    drawn: () => string = () => "";
    leave: () => void = () => undefined;

    override ui: FakePlace["ui"] = {
      ...new FakePlace().ui,
      custom: async (factory) =>
        await new Promise((resolve) => {
          const tui = { terminal: { rows: 40 }, requestRender: () => undefined };
          const theme = { fg: (_: string, text: string) => text, bold: (text: string) => text };
          const view = factory(tui as never, theme as never, {} as never, resolve) as Component;
          this.drawn = () => view.render(100).join("\n");
          this.leave = () => resolve(false as never);
        }),
    };
  }

  test("shows each state as the host tells it, and stops when it is left", async () => {
    let stopped = false;
    const link = new FakeLink({
      runs: {
        watchRun: async function* watch({ runId }, { signal }) {
          yield { run: { summary: sessionRun({ runId, node: "collect" }).summary } };
          yield { run: { summary: sessionRun({ runId, node: "review" }).summary } };
          await aborted(signal);
          stopped = true;
        },
      },
    });
    const place = new TuiPlace();
    const clock = new FakeClock(NOW);
    const { signal } = new AbortController();
    const shown = showRun({ link, place, runId: "run_1", signal, clock });
    await until(() => place.drawn().includes("review"), { what: () => "the second state" });
    place.leave();
    await shown;
    await until(() => stopped, { what: () => "the end of the stream" });
    expect(clock.pending).toBe(0);
  });

  test("comes back when the host does, and says meanwhile that it is away", async () => {
    let calls = 0;
    const link = new FakeLink({
      runs: {
        watchRun: async function* watch({ runId }, { signal }) {
          calls += 1;
          if (calls === 1) throw new ConnectError("gone", Code.Unavailable);
          yield { run: { summary: sessionRun({ runId }).summary } };
          await aborted(signal);
        },
      },
    });
    const place = new TuiPlace();
    const clock = new FakeClock(NOW);
    const { signal } = new AbortController();
    const shown = showRun({ link, place, runId: "run_1", signal, clock });
    await until(() => place.drawn().includes("does not answer"), { what: () => "the note" });
    clock.advance(500);
    await until(() => place.drawn().includes("running run_1"), { what: () => "the run" });
    expect(place.drawn()).not.toContain("does not answer");
    place.leave();
    await shown;
  });

  test("says why there is nothing to follow", async () => {
    const link = new FakeLink({
      runs: {
        // oxlint-disable-next-line require-yield -- It refuses before there is anything to send.
        watchRun: async function* watch() {
          const fields = { reason: Reason.RUN_NOT_FOUND, message: "there is no run run_9" };
          throw refusal(Code.NotFound, fields);
        },
      },
    });
    const place = new TuiPlace();
    const end = new AbortController();
    const clock = new FakeClock(NOW);
    const shown = showRun({ link, place, runId: "run_9", signal: end.signal, clock });
    await until(() => place.drawn().includes("no run run_9"), { what: () => "the refusal" });
    place.leave();
    await shown;
    expect(clock.pending).toBe(0);
  });
});
