/** Runs without a session: the host starts the real Pi for their steps, and ends it. */
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { newBridge, submits } from "../support/pi/bridge-rig.ts";
import type { Bridge } from "../support/pi/bridge-rig.ts";
import { processesOf } from "../support/pi/pi-process-check.ts";
import type { Process } from "../support/pi/pi-process-check.ts";
import { until } from "../support/pi/until.ts";

const TWO_STEPS = `
import { agent, assistantMessage, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "two",
  startAt: "draft",
  nodes: {
    draft: agent({ prompt: "Write a draft.", expectedOutput: "a text" }),
    sign: agent({ prompt: ({ outputs }) => "Sign: " + outputs.draft, expectedOutput: assistantMessage() }),
  },
  edges: [{ from: "draft", to: "sign" }],
});
`;

async function start(bridge: Bridge, path: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await bridge.cli("start", path, "--detach", "--json", ...args);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout).receipt.runId;
}

/** Pis of the profile; the host's, where the test started none. */
function pis(bridge: Bridge): readonly Process[] {
  return processesOf(bridge.profile.folder).filter(({ command }) => command.includes("--mode rpc"));
}

test("a run that nobody looks on has its two steps done by one Pi", async () => {
  const bridge = await newBridge();
  bridge.onStep((step) =>
    step.text.includes("Sign: a draft") ? "signed" : submits("a draft")(step),
  );
  const runId = await start(bridge, bridge.workflow("two", TWO_STEPS));
  const view = await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(view.summary?.mode).toBe(1);
  console.log(JSON.stringify(bridge.model.requests.map((r) => r.lastUserText.slice(0, 300)), null, 1));
  console.log((await bridge.cli("host", "logs")).stdout.slice(-3000));
  await until(() => pis(bridge).length === 0, { what: () => "no Pi", timeoutMs: 90000 });
});
