/** A model that answers without handing in a result. */
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge, submits } from "../support/pi/bridge-rig.ts";

const ROUTED = `
import { agent, compute, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "routed",
  startAt: "draft",
  nodes: {
    draft: agent({ prompt: "Write the notes.", expectedOutput: "any text" }),
    fine: compute({ run: () => "fine" }),
    gave_up: compute({ run: ({ results }: any) => results.draft.error.name }),
  },
  edges: [
    { from: "draft", switch: { on: "$result.outcome", cases: { ok: "fine", failed: "gave_up" } } },
  ],
});
`;

const SPEAK = `
import { agent, assistantMessage, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "speak",
  startAt: "say",
  nodes: { say: agent({ prompt: "Greet the world.", expectedOutput: assistantMessage() }) },
  edges: [],
});
`;

test("it is reminded twice, then the attempt fails as missing_submission, which is routed", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => "I thought about it.");
  const runId = await bridge.start(pi, bridge.workflow("routed", ROUTED));
  const { result } = await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(result?.kind.value).toBe("missing_submission");
  const steps = await bridge.shown(pi, "step");
  expect(steps.map(({ details }) => details.reason)).toEqual(["first", "reminder", "reminder"]);
  expect(new Set(steps.map(({ details }) => details.id)).size).toBe(3);
});

test("it hands in after a reminder", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep((step) =>
    step.text.includes("ended without") || /remind/i.test(step.text)
      ? submits("the notes")(step)
      : "Let me think.",
  );
  const runId = await bridge.start(pi, bridge.workflow("routed", ROUTED));
  expect((await bridge.reaches(runId, RunStatus.COMPLETED)).result?.kind.value).toBe("fine");
  const reasons = (await bridge.shown(pi, "step")).map(({ details }) => details.reason);
  expect(reasons).toEqual(["first", "reminder"]);
});

test("the reply of the step's own turn is the result of a step that asks for one", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => "Hello, world.");
  const runId = await bridge.start(pi, bridge.workflow("speak", SPEAK));
  const { result } = await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(result?.kind.value).toBe("Hello, world.");
});
