/** Awkward moments at which a step becomes ready. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { EXTENSION, startBridge, submits } from "../support/pi/bridge-rig.ts";
import { ONE_STEP } from "../support/pi/flows.ts";
import { until } from "../support/pi/until.ts";

const MOVES = join(import.meta.dirname, "../fixtures/pi-extensions/moves.ts");

test("in a retry back-off of the user's turn it waits for the turn to end", async () => {
  const settings = { retry: { maxRetries: 1, baseDelayMs: 3_000 } };
  const { bridge, pi } = await startBridge({ settings });
  bridge.onStep(submits(7));
  const workflow = bridge.workflow("one", ONE_STEP);
  bridge.model.enqueue(
    { tool: "workflow", args: { action: "start", workflow } },
    { status: 503, body: "overloaded" },
    "all is well again",
  );
  const since = pi.mark();
  await pi.prompt("start it");
  await pi.waitFor("auto_retry_start", () => true, { since });
  const runId = await until(async () => (await bridge.runs())[0]?.runId, { what: () => "a run" });
  await bridge.reaches(runId, RunStatus.WAITING);
  expect(await bridge.shown(pi, "step")).toHaveLength(0);
  await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(await bridge.shown(pi, "step")).toHaveLength(1);
});

test("during a compaction it waits for the end of it", async () => {
  const compaction = { enabled: true, reserveTokens: 1_000, keepRecentTokens: 1 };
  const { bridge, pi } = await startBridge({ settings: { compaction } });
  bridge.onStep(submits(7));
  await pi.ask("one word");
  await pi.ask("another word");
  bridge.model.enqueue({ text: "what was said", hold: "compaction" });
  const compacting = pi.call("compact", {});
  await bridge.model.held("compaction");
  const workflow = bridge.workflow("one", ONE_STEP);
  expect(await pi.prompt(`/workflow start ${workflow}`)).toBe("handled");
  const runId = await until(async () => (await bridge.runs())[0]?.runId, { what: () => "a run" });
  await bridge.reaches(runId, RunStatus.WAITING);
  expect(await bridge.shown(pi, "step")).toHaveLength(0);
  bridge.model.release("compaction");
  await compacting;
  await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(await bridge.shown(pi, "step")).toHaveLength(1);
});

test("into an empty session it is written with the turn that it starts", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => ({ text: "Thinking.", hold: "turn" }));
  const workflow = bridge.workflow("one", ONE_STEP);
  await pi.prompt(`/workflow start ${workflow}`);
  await bridge.model.held("turn");
  const [run] = await bridge.runs();
  const { sessionId } = await pi.state();
  await pi.kill();
  bridge.onStep(submits(7));
  bridge.model.release("turn");
  // Nothing was on disk: the reopened session is shown the request again.
  const again = await bridge.startPi({ session: { id: sessionId } });
  // Pi itself warns that it found no such session, and makes one with that id.
  again.expectOtherEnd();
  await bridge.reaches(run?.runId ?? "", RunStatus.COMPLETED);
  expect(await bridge.shows(again, "result")).toHaveLength(1);
});

const NOTE = `
import { defineWorkflow, notify } from "pi-workflows";
export default defineWorkflow({
  name: "note", startAt: "tell", result: "card",
  nodes: { tell: notify({ message: "for your information" }) }, edges: [],
});
`;

test("news is final: going back before it does not show it again", async () => {
  const { bridge, pi } = await startBridge({ pi: { extensions: [EXTENSION, MOVES] } });
  await pi.ask("the first word");
  const first = (await pi.branch()).find((entry) => entry.type === "message");
  const runId = await bridge.start(pi, bridge.workflow("note", NOTE));
  await bridge.reaches(runId, RunStatus.COMPLETED);
  await bridge.shows(pi, "result");
  await pi.prompt(`/back ${first?.id}`);
  await pi.ask("a word on the other branch");
  await pi.ask("and another");
  expect(await bridge.shown(pi)).toEqual([]);
});
