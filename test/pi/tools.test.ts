/** The tools of a step, and Pis that have nothing to do with it. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { EXTENSION, startBridge } from "../support/pi/bridge-rig.ts";
import { ONE_STEP } from "../support/pi/flows.ts";
import { PI_CLI } from "../support/pi/pi-profile.ts";

const RIG = join(import.meta.dirname, "../fixtures/pi-extensions/rig.ts");

const NARROW = `
import { agent, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "narrow",
  startAt: "think",
  result: "card",
  nodes: { think: agent({ prompt: "Think.", allowedTools: ["read"] }) },
  edges: [],
});
`;

test("other tools than the allowed ones are blocked in the step's own turns only", async () => {
  const { bridge, pi } = await startBridge({ pi: { extensions: [EXTENSION, RIG] } });
  const told: string[] = [];
  bridge.onStep(({ interactionId, answersSince, last }) => {
    if (last.role === "tool") told.push(last.text);
    if (answersSince === 0) return { tool: "rig_echo", args: { text: "sneaky" } };
    if (answersSince > 1) return "Done.";
    const args = { action: "submit", interaction: interactionId, value: "thought" };
    return { tool: "workflow", args };
  });
  const runId = await bridge.start(pi, bridge.workflow("narrow", NARROW));
  await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(told[0]).not.toContain("sneaky");
  expect(told[0]).toContain("rig_echo");
  await bridge.shows(pi, "result");
  await pi.ask('#mock [{"tool":"rig_echo","args":{"text":"open again"}},"done"]');
  expect(bridge.model.requests.at(-1)?.last.text).toBe("open again");
});

test("a nested Pi in print mode attaches to nothing and changes nothing", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => ({ text: "Thinking.", hold: "turn" }));
  const runId = await bridge.start(pi, bridge.workflow("one", ONE_STEP));
  await bridge.model.held("turn");
  const { profile } = bridge;
  const nested = promisify(execFile)(
    process.execPath,
    [PI_CLI, "-p", "--no-approve", "--no-context-files", "-e", EXTENSION, "hello from below"],
    { env: profile.env, cwd: profile.project },
  );
  // What is piped into a Pi that prints is part of its prompt, so it waits for the end of it.
  nested.child.stdin?.end();
  const { stdout } = await nested;
  expect(stdout).toContain("echo: hello from below");
  expect((await bridge.view(runId)).summary?.status).toBe(RunStatus.WAITING);
  bridge.onStep(({ interactionId, last }) =>
    last.role === "tool"
      ? "Done."
      : { tool: "workflow", args: { action: "submit", interaction: interactionId, value: 7 } },
  );
  bridge.model.release("turn");
  await bridge.reaches(runId, RunStatus.COMPLETED);
  // The nested one has shown nothing of the run.
  expect(
    bridge.model.requests.filter(({ lastUserText }) => lastUserText.includes("hello")),
  ).toHaveLength(1);
});
