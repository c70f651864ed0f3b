/** What the user's Escape means, and what looks like it and is not. */
import { expect, test } from "vitest";
import { DeliveryState } from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge, submits } from "../support/pi/bridge-rig.ts";
import type { Bridge } from "../support/pi/bridge-rig.ts";
import { ONE_STEP } from "../support/pi/flows.ts";
import type { Pi } from "../support/pi/pi-rpc.ts";
import { until } from "../support/pi/until.ts";

/** A run whose step's turn is held in the middle of the model's answer. */
async function inTurn(): Promise<{ bridge: Bridge; pi: Pi; runId: string }> {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => ({ text: "Thinking.", hold: "turn" }));
  const runId = await bridge.start(pi, bridge.workflow("one", ONE_STEP));
  await bridge.model.held("turn");
  await isWorkedOn(bridge, runId);
  return { bridge, pi, runId };
}

async function isWorkedOn(bridge: Bridge, runId: string): Promise<void> {
  await until(async () => (await bridge.view(runId)).summary?.delivery === DeliveryState.WORKING, {
    what: () => "the turn to be known to the host",
  });
}

test("Escape in a step's turn pauses the run once, and resume presents it again", async () => {
  const { bridge, pi, runId } = await inTurn();
  await pi.escape();
  await bridge.reaches(runId, RunStatus.PAUSED);
  const client = await bridge.client();
  const { events } = await client.runs.listEvents({ runId });
  expect(events.filter(({ kind }) => kind === "pause")).toHaveLength(1);
  bridge.model.release("turn");
  bridge.onStep(submits(7));
  expect(await pi.prompt(`/workflow resume ${runId}`)).toBe("handled");
  await bridge.reaches(runId, RunStatus.COMPLETED);
  const reasons = (await bridge.shown(pi, "step")).map(({ details }) => details.reason);
  expect(reasons).toEqual(["first", "resumed"]);
});

test("a new session in a step's turn does not pause the run", async () => {
  const { bridge, pi, runId } = await inTurn();
  const file = (await pi.state()).sessionFile ?? "";
  await pi.call("new_session", {});
  bridge.model.release("turn");
  bridge.onStep(submits(7));
  await pi.call("switch_session", { sessionPath: file });
  await bridge.reaches(runId, RunStatus.COMPLETED);
  const client = await bridge.client();
  const { events } = await client.runs.listEvents({ runId });
  expect(events.map(({ kind }) => kind)).not.toContain("pause");
});

test("quitting in a step's turn does not pause the run; it goes on in the reopened session", async () => {
  const { bridge, pi, runId } = await inTurn();
  const { sessionId } = await pi.state();
  await pi.quit();
  bridge.model.release("turn");
  expect((await bridge.view(runId)).summary?.status).toBe(RunStatus.WAITING);
  bridge.onStep(submits(7));
  const again = await bridge.startPi({ session: { id: sessionId } });
  await bridge.reaches(runId, RunStatus.COMPLETED);
  const reasons = (await bridge.shown(again, "step")).map(({ details }) => details.reason);
  expect(reasons.at(-1)).toBe("resumed");
});

test("Escape after the result was accepted pauses nothing", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(({ interactionId, last }) =>
    last.role === "tool"
      ? { text: "Going on.", hold: "after" }
      : { tool: "workflow", args: { action: "submit", interaction: interactionId, value: 7 } },
  );
  const runId = await bridge.start(pi, bridge.workflow("one", ONE_STEP));
  await bridge.reaches(runId, RunStatus.COMPLETED);
  await bridge.model.held("after");
  await pi.escape();
  bridge.model.release("after");
  await bridge.shows(pi, "result");
  expect((await bridge.view(runId)).summary?.status).toBe(RunStatus.COMPLETED);
});

test("a turn that the host asks to stop pauses nothing", async () => {
  const { bridge, pi, runId } = await inTurn();
  const since = pi.mark();
  expect((await bridge.cli("cancel", runId)).code).toBe(0);
  const settled = await pi.settled(1, { since });
  expect(settled.aborted).toBe(true);
  bridge.model.release("turn");
  const view = await bridge.view(runId);
  expect(view.summary?.status).toBe(RunStatus.CANCELLED);
});

test("Escape of ordinary chat holds steps back until the user goes on", async () => {
  const { bridge, pi } = await startBridge();
  const path = bridge.workflow("one", ONE_STEP);
  bridge.onStep(submits(7));
  bridge.model.enqueue(
    { tool: "workflow", args: { action: "start", workflow: path } },
    { text: "Talking.", hold: "chat" },
  );
  await pi.prompt("start it and talk");
  await bridge.model.held("chat");
  const runId = await until(async () => (await bridge.runs())[0]?.runId, { what: () => "a run" });
  await bridge.reaches(runId, RunStatus.WAITING);
  const since = pi.mark();
  await pi.escape();
  await pi.settled(1, { since });
  bridge.model.release("chat");
  await until(
    () => pi.status("workflow")?.includes("held") || pi.status("workflow") !== undefined,
    {
      what: () => "a status line",
    },
  );
  expect(await bridge.shown(pi, "step")).toHaveLength(0);
  await pi.ask("go on");
  await bridge.reaches(runId, RunStatus.COMPLETED);
});
