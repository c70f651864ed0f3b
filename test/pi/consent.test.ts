/** Code of a project that nobody has trusted: the model's start of it asks the user. */
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge } from "../support/pi/bridge-rig.ts";
import { until } from "../support/pi/until.ts";

const QUICK = `
import { compute, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "quick",
  startAt: "end",
  nodes: { end: compute({ run: () => ({ done: true }) }) },
  edges: [],
});
`;

const start = (workflow: string): string =>
  `#mock ${JSON.stringify([{ tool: "workflow", args: { action: "start", workflow } }, "over"])}`;

test("the model's start is asked about once, and a no refuses it; the user's own asks nobody", async () => {
  const { bridge, pi } = await startBridge({ trusted: false });
  const path = bridge.workflow("quick", QUICK);
  const asked: string[] = [];
  pi.answerDialogs((dialog) => {
    asked.push(dialog.method);
    return false;
  });
  await pi.ask(start(path));
  await pi.ask(start(path));
  const told = bridge.model.requests.map(({ last }) => last.text);
  expect(told.filter((text) => text.includes("has not allowed you"))).toHaveLength(2);
  expect(asked).toEqual(["confirm"]);
  expect(await bridge.runs()).toEqual([]);
  expect(await pi.prompt(`/workflow start ${path}`)).toBe("handled");
  expect(asked).toEqual(["confirm"]);
  const run = await until(async () => (await bridge.runs())[0], { what: () => "the run" });
  await bridge.reaches(run.runId, RunStatus.COMPLETED);
  await pi.quit();
});

test("a yes holds for the session", async () => {
  const { bridge, pi } = await startBridge({ trusted: false });
  const path = bridge.workflow("quick", QUICK);
  const asked: string[] = [];
  pi.answerDialogs((dialog) => {
    asked.push(dialog.method);
    return true;
  });
  const runId = await bridge.start(pi, path);
  await bridge.start(pi, path, { again: true });
  expect(asked).toEqual(["confirm"]);
  expect(runId).toMatch(/^run_/);
  await pi.quit();
});
