/** Who may answer what: a checkpoint anybody, a decision a person only. */
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge } from "../support/pi/bridge-rig.ts";
import type { Bridge, OnStep } from "../support/pi/bridge-rig.ts";
import { decision, QUESTION } from "../support/pi/flows.ts";

async function resultOf(bridge: Bridge, runId: string): Promise<unknown> {
  const { code, stdout } = await bridge.cli("show", runId, "--result");
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

const answers: OnStep = ({ interactionId, last }) =>
  last.role === "tool"
    ? "Answered."
    : { tool: "workflow", args: { action: "answer", interaction: interactionId, value: true } };

test("a checkpoint takes the same answer from the model, the user and the command line", async () => {
  const { bridge, pi } = await startBridge();
  const path = bridge.workflow("question", QUESTION);
  bridge.onStep(answers);
  const first = await bridge.start(pi, path);
  await bridge.reaches(first, RunStatus.COMPLETED);

  bridge.onStep(() => "That is for the user.");
  const second = await bridge.start(pi, path, 2);
  await bridge.shows(pi, "step", 2);
  await bridge.reaches(second, RunStatus.WAITING);
  expect(await pi.prompt(`/workflow answer ${second} true`)).toBe("handled");
  await bridge.reaches(second, RunStatus.COMPLETED);

  const third = await bridge.start(pi, path, 3);
  await bridge.reaches(third, RunStatus.WAITING);
  expect((await bridge.cli("answer", third, "true")).code).toBe(0);
  await bridge.reaches(third, RunStatus.COMPLETED);

  const results = await Promise.all([first, second, third].map((id) => resultOf(bridge, id)));
  expect(results).toEqual([true, true, true]);
});

test("a decision is refused to the model's tool, and made by the user in a dialog", async () => {
  const { bridge, pi } = await startBridge();
  const runId = await bridge.start(pi, bridge.workflow("decision", decision()));
  const [card] = await bridge.shows(pi, "human_decision");
  const interaction = card?.details.interactionId ?? "";
  expect(card?.content).toContain("v1");
  const args = { action: "answer", interaction, value: { choice: "yes" } };
  await pi.ask(`#mock ${JSON.stringify([{ tool: "workflow", args }, "refused"])}`);
  const refusal = bridge.model.requests.at(-1)?.last;
  expect(refusal?.role).toBe("tool");
  expect(refusal?.text).toContain("/workflow decide");
  await bridge.reaches(runId, RunStatus.WAITING);

  pi.answerDialogs((dialog) => {
    if (dialog.method === "select") return dialog.options.find((one) => one.includes("Hold")) ?? "";
    return "not yet";
  });
  await pi.prompt(`/workflow decide ${interaction}`);
  await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(await resultOf(bridge, runId)).toEqual({ choice: "no", why: "not yet" });
});

test("a decision that nobody makes takes its default, and a late person is told which won", async () => {
  const { bridge, pi } = await startBridge();
  const runId = await bridge.start(pi, bridge.workflow("decision", decision(1_000)));
  await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(await resultOf(bridge, runId)).toEqual({ choice: "yes" });
  const client = await bridge.client();
  const { interactions } = await client.interactions.listInteractions({
    runId,
    includeClosed: true,
  });
  expect(interactions[0]?.answeredBy).toBe("policy");
  const since = pi.mark();
  pi.answerDialogs((dialog) => {
    if (dialog.method === "select") return dialog.options.find((one) => one.includes("Hold")) ?? "";
    return "too late";
  });
  await pi.prompt(`/workflow decide ${interactions[0]?.interactionId}`);
  const told = await pi.waitFor("extension_ui_request", (one) => one.method === "notify", {
    since,
  });
  expect(JSON.stringify(told)).toMatch(/policy|accepted|answered|not open/);
});
