/** The Escape key on a real screen, and the way on. */
import { describe, expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { EXTENSION, newBridge, submits } from "../support/pi/bridge-rig.ts";
import { ONE_STEP } from "../support/pi/flows.ts";
import { startTui, terminalMissing } from "../support/pi/pi-tui.ts";
import { until } from "../support/pi/until.ts";

const missing = terminalMissing();

describe.skipIf(missing !== undefined)("on the screen", () => {
  test("Escape in a step's turn pauses the run, and /workflow resume goes on", async () => {
    const bridge = await newBridge();
    bridge.onStep(() => ({ text: "Thinking.", hold: "turn" }));
    const ready = "workflow: ready";
    const tui = await startTui({ profile: bridge.profile, extensions: [EXTENSION], ready });
    bridge.workflow("one", ONE_STEP);
    const call = { tool: "workflow", args: { action: "start", workflow: "one.workflow.ts" } };
    await tui.say(`#mock ${JSON.stringify([call, "ok"])}`);
    await bridge.model.held("turn");
    tui.press("Escape");
    const run = await until(
      async () => (await bridge.runs()).find(({ status }) => status === RunStatus.PAUSED),
      { what: () => "the pause" },
    );
    expect(await tui.sees("paused")).toContain("one");
    bridge.onStep(submits(7));
    bridge.model.release("turn");
    tui.type(`/workflow resume ${run.runId}`);
    tui.press("Escape");
    tui.press("Enter");
    await bridge.reaches(run.runId, RunStatus.COMPLETED);
    await tui.sees("completed");
  });
});
