/** Several runs in one session, and the talk between their steps. */
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge, submits } from "../support/pi/bridge-rig.ts";

const STEP = (name: string): string => `
import { agent, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "${name}",
  startAt: "first",
  result: "card",
  nodes: {
    first: agent({ prompt: "First of ${name}." }),
    second: agent({ prompt: "Second of ${name}." }),
  },
  edges: [{ from: "first", to: "second" }],
});
`;

test("one request at a time, the older first, and the talk between belongs to nobody", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(submits("done"));
  const paths = ["one", "two"].map((name) => bridge.workflow(name, STEP(name)));
  const [one = "", two = ""] = await bridge.startAll(pi, paths);
  await bridge.reaches(one, RunStatus.COMPLETED);
  await bridge.reaches(two, RunStatus.COMPLETED);
  const steps = await bridge.shown(pi, "step");
  expect(steps.map(({ details }) => details.reason)).toEqual(Array.from(steps, () => "first"));
  const ofRuns = steps.map(({ details }) => details.runId);
  expect(ofRuns.toSorted()).toEqual([one, one, two, two].toSorted());
  expect(ofRuns[0]).toBe(one);
});

test("ordinary chat while a checkpoint waits changes nothing", async () => {
  const { bridge, pi } = await startBridge();
  const path = bridge.workflow(
    "ask",
    `import { checkpoint, defineWorkflow } from "pi-workflows";
    export default defineWorkflow({
      name: "ask", startAt: "ask", result: "card",
      nodes: { ask: checkpoint({ summary: "Ship it?" }) }, edges: [],
    });`,
  );
  bridge.onStep(() => "That is for the user to say.");
  const runId = await bridge.start(pi, path);
  await bridge.shows(pi, "step");
  const revision = async () => (await bridge.view(runId)).summary?.revision;
  await pi.ask("hello");
  const before = await revision();
  await pi.ask("how are you?");
  expect(await revision()).toBe(before);
  expect(await bridge.shown(pi, "step")).toHaveLength(1);
  const { code } = await bridge.cli("answer", runId, "true");
  expect(code).toBe(0);
  await bridge.reaches(runId, RunStatus.COMPLETED);
});
