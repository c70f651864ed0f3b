/** Pi or the host dies: nothing is lost, doubled or stuck. */
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge, submits } from "../support/pi/bridge-rig.ts";
import { ONE_STEP } from "../support/pi/flows.ts";
import { until } from "../support/pi/until.ts";

test("a killed Pi finds the same request once in its reopened session", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => ({ text: "Thinking.", hold: "turn" }));
  const runId = await bridge.start(pi, bridge.workflow("one", ONE_STEP));
  await bridge.model.held("turn");
  const { sessionId } = await pi.state();
  await pi.kill();
  bridge.model.release("turn");
  let submissions = 0;
  const receipts: string[] = [];
  bridge.onStep(({ interactionId, last }) => {
    if (last.role === "tool") receipts.push(last.text);
    if (submissions === 2) return "Done.";
    submissions += 1;
    return { tool: "workflow", args: { action: "submit", interaction: interactionId, value: 7 } };
  });
  const again = await bridge.startPi({ session: { id: sessionId } });
  await bridge.reaches(runId, RunStatus.COMPLETED);
  await until(() => receipts.length === 2, { what: () => "both answers of the tool" });
  // The same value again gets the stored receipt.
  expect(receipts[1]).toMatch(/accepted|already/i);
  const steps = await bridge.shown(again, "step");
  const ids = new Set(steps.map(({ details }) => details.interactionId));
  expect(ids.size).toBe(1);
  expect(steps.filter(({ details }) => details.reason === "resumed").length).toBeLessThanOrEqual(1);
});

test("a host that is killed while a step waits is started again, and nothing comes twice", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => ({ text: "Thinking.", hold: "turn" }));
  const runId = await bridge.start(pi, bridge.workflow("one", ONE_STEP));
  await bridge.model.held("turn");
  await bridge.killHost();
  bridge.onStep(submits(7));
  bridge.model.release("turn");
  await bridge.reaches(runId, RunStatus.COMPLETED);
  await bridge.shows(pi, "result");
  expect(await bridge.shown(pi, "result")).toHaveLength(1);
  const firsts = (await bridge.shown(pi, "step")).filter(
    ({ details }) => details.reason === "first",
  );
  expect(firsts).toHaveLength(1);
});

const SLOW = ONE_STEP.replace(
  "validate(value: any) {",
  `async validate(value: any) {
        const { existsSync, writeFileSync } = await import("node:fs");
        writeFileSync("validating", "");
        while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));`,
);

test("a host that is killed during a validation validates again, for the same call", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(submits(7));
  const runId = await bridge.start(pi, bridge.workflow("slow", SLOW));
  const { project } = bridge.profile;
  const { existsSync } = await import("node:fs");
  await until(() => existsSync(`${project}/validating`), { what: () => "the validation" });
  await bridge.killHost();
  bridge.profile.writeProjectFile("go", "");
  await bridge.reaches(runId, RunStatus.COMPLETED);
  const client = await bridge.client();
  const { events } = await client.runs.listEvents({ runId });
  const kinds = events.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "validate")).toHaveLength(1);
  expect(kinds).not.toContain("reject");
  const end = pi.all("tool_execution_end").at(-1);
  expect(end?.isError).toBe(false);
});
