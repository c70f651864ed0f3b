import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { HostUnreachableError } from "../../../src/client/host-error.ts";
import { workflowTool } from "../../../src/extension/workflow-tool.ts";
import { Outcome } from "../../../src/gen/piworkflows/common/v1/command_pb.ts";
import {
  DeliveryState,
  InteractionKind,
} from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { RunStatus } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { ago, FakePlace, sessionRun } from "../../support/extension-fakes.ts";
import { createProject } from "../../support/loader.ts";
import { toolRig } from "../../support/tool-rig.ts";

const startedAs = (runId: string, outcome: Outcome = Outcome.COMMITTED) => ({
  receipt: { runId, outcome },
});

describe("listing and status", () => {
  const run = sessionRun({ interactionId: "int_1", originSession: "session-1" }).summary;
  const listRuns = () => ({ runs: run === undefined ? [] : [run] });

  test("a list names workflows and runs, and marks what is not trusted", async () => {
    const { call, place } = toolRig({ runs: { listRuns } });
    place.cwd = createProject({ ".pi/workflows/mine.workflow.ts": "" }).folder;
    place.trusted = false;
    const { text } = await call({ action: "list" });
    expect(text).toContain("- mine (project, project not trusted: cannot start)");
    expect(text).toContain("run_1");
    expect(text).toContain("this session");
    expect(text).toContain("waits with int_1");
  });

  test("a status without a run is the newest runs of the project", async () => {
    const { call, place } = toolRig({
      runs: {
        listRuns: ({ projectDir, pageSize }) => {
          expect({ projectDir, pageSize }).toEqual({ projectDir: place.cwd, pageSize: 10 });
          return listRuns();
        },
      },
    });
    expect((await call({ action: "status" })).text).toMatch(
      /^Runs of this project:\n- ▶ running run_1/,
    );
  });

  test("a status of one run says all about it, and stays bounded", async () => {
    const { call } = toolRig({
      runs: {
        getRun: () => ({
          run: {
            summary: { ...run, status: RunStatus.WAITING } as never,
            workflowPath: "/p/release.workflow.ts",
            interaction: {
              interactionId: "int_1",
              kind: InteractionKind.AGENT,
              summary: "write the notes",
              delivery: DeliveryState.WORKING,
              lastError: "x".repeat(9_000),
              reminders: 1,
            },
            attempts: Array.from({ length: 40 }, () => ({ node: "draft", startedAt: ago(1) })),
          },
        }),
      },
    });
    const { text, headline } = await call({ action: "status", run: "run_1" });
    expect(headline).toContain("run_1");
    for (const part of ["write the notes", "a model works on it", "int_1", "action submit"]) {
      expect(text).toContain(part);
    }
    expect(text.length).toBeLessThan(6_000);
  });
});

describe("steering a run", () => {
  test.each([
    ["pause", "pauseRun"],
    ["resume", "resumeRun"],
    ["cancel", "cancelRun"],
  ] as const)("%s asks the host and says what became of the run", async (action, method) => {
    const { call } = toolRig({
      runs: { [method]: () => ({ run: { runId: "run_1", title: "t", status: RunStatus.PAUSED } }) },
    });
    expect(await call({ action, run: "run_1" })).toMatchObject({
      isError: false,
      text: "run_1 is paused: t",
    });
    expect((await call({ action })).text).toContain("needs run");
  });

  test("a pause that waits for an effect says so", async () => {
    const { call } = toolRig({
      runs: { pauseRun: () => ({ run: { runId: "run_1", status: 3, pauseRequested: true } }) },
    });
    expect((await call({ action: "pause", run: "run_1" })).text).toContain("effect");
  });

  test("a restart names the new run", async () => {
    const { call } = toolRig({ runs: { restartRun: () => startedAs("run_8") } });
    expect((await call({ action: "restart", run: "run_1" })).text).toContain("Started run_8");
  });
});

describe("without a host", () => {
  test("a call names its id and says that repeating is safe", async () => {
    const { call, link } = toolRig();
    link.unreachable = new HostUnreachableError("no_answer", "nobody listens", "/log");
    const { text, isError } = await call({ action: "submit", interaction: "int_1", value: 1 });
    expect(isError).toBe(true);
    expect(text).toContain("nobody listens");
    expect(text).toContain("repeating is safe (int_1)");
  });

  test("a connection that breaks in the middle is no refusal", async () => {
    const { call, link } = toolRig();
    link.unreachable = new ConnectError("closed", Code.Canceled);
    expect((await call({ action: "cancel", run: "run_1" })).text).toContain("repeating is safe");
  });

  test("a call that Pi stops says so", async () => {
    const stopped = AbortSignal.abort();
    const { call } = toolRig({ runs: { pauseRun: () => ({}) } });
    const { text } = await call({ action: "pause", run: "run_1" }, stopped);
    expect(text).toContain("Stopped");
    expect(text).toContain("run_1");
  });

  test("a Pi without a session or of another version says why", async () => {
    const tool = workflowTool(() => undefined);
    const ctx = new FakePlace() as never;
    const args = { action: "list" } as never;
    const alone = await tool.execute("c", args, undefined, undefined, ctx);
    expect(alone.isError).toBe(true);
    const { call, link } = toolRig();
    link.state = { kind: "unsupported", reason: "Pi 2.0 is not supported" };
    expect((await call({ action: "list" })).text).toContain("Pi 2.0");
  });
});

describe("the tool's row in the transcript", () => {
  const theme = { fg: (_: string, text: string) => text, bold: (text: string) => text } as never;
  const tool = workflowTool(() => undefined);
  const context = (isError: boolean) => ({ isError, keyHint: () => "ctrl+o to expand" }) as never;
  const result = { content: [{ type: "text", text: "all\nof it" }], details: { headline: "done" } };

  test("shows a call while its arguments still come in", () => {
    const draw = (args: object): string =>
      (tool.renderCall?.(args as never, theme, context(false)).render(100) ?? []).join("\n").trim();
    expect(draw({})).toBe("workflow …");
    expect(draw({ action: "submit", interaction: "int_1", value: { a: 1 } })).toBe(
      'workflow submit int_1 {"a":1}',
    );
  });

  test("is one line until it is expanded", () => {
    const draw = (expanded: boolean, isError: boolean, isPartial = false): string =>
      (
        tool
          .renderResult?.(result as never, { expanded, isPartial }, theme, context(isError))
          .render(80) ?? []
      )
        .map((line) => line.trimEnd())
        .join("\n");
    expect(draw(false, false)).toBe("✓ done (ctrl+o to expand)");
    expect(draw(false, true)).toBe("✗ done (ctrl+o to expand)");
    expect(draw(true, false)).toBe("✓ done\nall\nof it");
    expect(draw(false, false, true)).toBe("asking the host …");
  });

  test("tells the model when to use it, and keeps scripts from it", () => {
    expect(tool.promptGuidelines?.every((line) => line.includes("workflow"))).toBe(true);
    expect(tool.exposure).toBe("model-only");
  });
});
