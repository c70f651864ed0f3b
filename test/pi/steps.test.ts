/** Steps live in the session they came from: shown once, answered once, told once. */
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge, submits } from "../support/pi/bridge-rig.ts";

const NOTES = `
import { agent, compute, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "notes",
  startAt: "draft",
  nodes: {
    draft: agent({
      prompt: "Write the notes.",
      expectedOutput: '{ "notes": "markdown" }',
      validate(value: any) {
        if (typeof value?.notes !== "string") throw new Error("notes must be a text");
        return { notes: value.notes };
      },
    }),
    count: compute({ run: ({ outputs }: any) => ({ length: outputs.draft.notes.length }) }),
  },
  edges: [{ from: "draft", to: "count" }],
});
`;

test("a tool call starts a run, its step is presented, submitted and told of once", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(submits({ notes: "- faster" }));
  const runId = await bridge.start(pi, bridge.workflow("notes", NOTES));
  const { result } = await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(result?.kind).toMatchObject({ value: { fields: { length: {} } } });
  const [told] = await bridge.shows(pi, "result");
  expect(told?.details).toMatchObject({ runId, runStatus: "completed" });
  expect(await bridge.shown(pi, "step")).toHaveLength(1);
  expect(await bridge.shown(pi, "result")).toHaveLength(1);
});

test("a validation error comes back to the model, and the corrected result is accepted", async () => {
  const { bridge, pi } = await startBridge();
  const told: string[] = [];
  bridge.onStep(({ interactionId, answersSince, last }) => {
    if (last.role === "tool") told.push(last.text);
    if (answersSince > 1) return "Done.";
    const value = answersSince === 0 ? { notes: 7 } : { notes: "- right" };
    return { tool: "workflow", args: { action: "submit", interaction: interactionId, value } };
  });
  const runId = await bridge.start(pi, bridge.workflow("notes", NOTES));
  await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(told[0]).toContain("notes must be a text");
  expect(await bridge.shown(pi, "step")).toHaveLength(1);
});
