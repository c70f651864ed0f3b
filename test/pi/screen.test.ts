/** What the user sees and types: cards, widget, decisions and details on a real screen. */
import { appendFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { valueJson } from "../../src/client/json-value.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { EXTENSION, newBridge, submits } from "../support/pi/bridge-rig.ts";
import type { Bridge } from "../support/pi/bridge-rig.ts";
import { startTui, terminalMissing } from "../support/pi/pi-tui.ts";
import type { Tui } from "../support/pi/pi-tui.ts";
import { until } from "../support/pi/until.ts";

const missing = terminalMissing();
if (missing !== undefined) console.warn(`the tests in a terminal are skipped: ${missing}`);

const RELEASE = `
import { agent, choice, compute, defineHumanChoices, defineWorkflow, humanDecision, humanDecisionEdge, notify, textInput } from "pi-workflows";
const choices = defineHumanChoices({
  publish: choice({ label: "Publish" }),
  revise: choice({ label: "Change something", input: textInput({ name: "wish", prompt: "What should change?", minLength: 3 }) }),
});
export default defineWorkflow({
  name: "release",
  title: "release 1.2",
  startAt: "draft",
  nodes: {
    draft: agent({
      prompt: "Write the release notes.",
      schema: { type: "object", properties: { notes: { type: "string" } }, required: ["notes"] },
    }),
    review: humanDecision({
      audience: "the editor",
      choices,
      request: ({ outputs }: any) => ({ title: "Publish these notes?", subject: outputs.draft.notes }),
    }),
    tell: notify({ message: "The notes are published.", kind: "final" }),
    end: compute({ run: ({ outputs }: any) => ({ published: outputs.draft.notes.length }) }),
  },
  edges: [
    { from: "draft", to: "review" },
    humanDecisionEdge({ from: "review", choices, cases: { publish: "tell", revise: "draft" } }),
    { from: "tell", to: "end" },
  ],
});
`;

const LONG = `
import { choice, defineHumanChoices, defineWorkflow, humanDecision, textInput } from "pi-workflows";
const lines = Array.from({ length: 80 }, (_, index) => (index === 79 ? "the last line, number 80" : "line " + (index + 1)));
export default defineWorkflow({
  name: "long",
  startAt: "ask",
  result: "card",
  nodes: {
    ask: humanDecision({
      audience: "you",
      choices: defineHumanChoices({
        take: choice({ label: "Take it" }),
        change: choice({ label: "Change it", input: textInput({ name: "wish", prompt: "What should change?", minLength: 3 }) }),
      }),
      request: () => ({ title: "Is this right?", subject: lines.join("\\n") }),
    }),
  },
});
`;

/** A short name: a line that wraps is hard to recognise on a screen. */
const FILE = "release.workflow.ts";

/** Keeps what a person would have seen, for whoever reads the output of the test. */
function capture(name: string, screen: string): void {
  const file = process.env["SCREENS"];
  if (file !== undefined) appendFileSync(file, `== ${name}\n${screen}\n`);
}

async function terminal(bridge: Bridge, columns = 100): Promise<Tui> {
  return await startTui({
    profile: bridge.profile,
    extensions: [EXTENSION],
    ready: "workflow: ready",
    columns,
  });
}

/** A dialog takes the editor's place, so an empty editor is no sign that the line was sent. */
async function opens(tui: Tui, command: string): Promise<void> {
  tui.type(command);
  await until(() => tui.editor() === command, { what: () => `"${command}" typed` });
  tui.press("Enter");
}

describe.skipIf(missing !== undefined)("on the screen", () => {
  test("a run is started, its decision shown and made, and its end told", async () => {
    const bridge = await newBridge();
    bridge.onStep(submits({ notes: "# 1.2\n- faster starts\n- fewer surprises" }));
    const tui = await terminal(bridge);
    bridge.workflow("release", RELEASE);
    const call = { tool: "workflow", args: { action: "start", workflow: FILE } };
    await tui.say(`#mock ${JSON.stringify([call, "ok"])}`);
    await tui.sees("your decision: release 1.2");
    const waiting = await tui.sees("waits for a person's decision: /workflow decide");
    capture("decision", waiting);
    expect(waiting).toContain("workflow step: release 1.2 · draft");
    expect(waiting).toContain("choices: Publish / Change something");
    expect(waiting).toContain("- faster starts …");
    expect(waiting).toContain("workflow: 1 waits for you");

    await opens(tui, "/workflow decide");
    const dialog = await tui.sees("→ Publish");
    capture("dialog", dialog);
    for (const part of ["Publish these notes?", "- fewer surprises", "For: the editor"]) {
      expect(dialog).toContain(part);
    }
    tui.press("Enter");
    if ((await tui.sees(/Is it meant\?|decided: Publish/)).includes("Is it meant?")) {
      tui.press("Down", "Enter");
    }
    const [run] = await until(
      async () => {
        const runs = await bridge.runs();
        return runs[0]?.status === RunStatus.COMPLETED ? runs : undefined;
      },
      { what: () => "the end of the run" },
    );
    const end = await tui.sees("workflow completed: release 1.2");
    capture("end", end);
    expect(end).toContain("✓ release 1.2 · completed");

    await opens(tui, `/workflow watch ${run?.runId ?? ""}`);
    capture("details", await tui.sees(`completed ${run?.runId ?? ""}`));
    tui.press("Escape");
    await tui.seesNo("esc: close");
    await tui.say("/workflow clear");
    await tui.seesNo("✓ release 1.2 · completed");
    expect(await tui.quit()).toBe(0);
  });

  test("the key opens the details of the run, which follow it", async () => {
    const bridge = await newBridge();
    const tui = await terminal(bridge, 64);
    bridge.workflow("release", RELEASE);
    await tui.say(`/workflow start ${FILE}`);
    await tui.sees(/◇ release 1\.2 · draft.* model/);
    tui.press("C-S-w");
    const before = await tui.sees("waits for a model's result");
    capture("narrow", before);
    const view = await until(async () => (await bridge.runs())[0], { what: () => "the run" });
    const client = await bridge.client();
    await client.call(({ runs }) =>
      runs.cancelRun({ runId: view.runId, command: { requestId: "r" } }),
    );
    await tui.sees("⊘ cancelled");
    tui.press("Escape");
    await tui.seesNo("esc: close");
    expect(await tui.quit()).toBe(0);
  });

  test("a long subject is read on a screen of its own, and a choice asks for its text", async () => {
    const bridge = await newBridge();
    const tui = await terminal(bridge);
    bridge.workflow("release", LONG);
    await tui.say(`/workflow start ${FILE}`);
    await tui.sees("your decision: long");
    await opens(tui, "/workflow decide");
    capture("subject", await tui.sees("enter: decide"));
    for (let page = 0; page < 4; page += 1) tui.type(" ");
    await tui.sees("the last line, number 80");
    tui.press("Enter");
    await tui.sees("→ Take it");
    tui.press("Down", "Enter");
    // Keys that come faster than anybody reads are not taken for a decision.
    await tui.sees("Is it meant?");
    tui.press("Down", "Enter");
    await tui.sees("What should change?");
    tui.type("no");
    tui.press("Enter");
    await tui.sees("at least 3 characters; it has 2");
    tui.type("less of it");
    tui.press("Enter");
    const result = await until(
      async () => (await bridge.runs())[0]?.status === RunStatus.COMPLETED || undefined,
      { what: () => "the end of the run" },
    );
    expect(result).toBe(true);
    const [run] = await bridge.runs();
    const view = await bridge.view(run?.runId ?? "");
    expect(valueJson(view.result)).toEqual({ choice: "change", wish: "less of it" });
    expect(await tui.quit()).toBe(0);
  });
});
