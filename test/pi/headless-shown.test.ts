/** What the command line tells of a step that the host's own Pi works on. */
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { submits } from "../support/pi/bridge-rig.ts";
import { held, newHeadless, startRun, TWO_STEPS } from "../support/pi/headless-rig.ts";

test("show and watch say that a Pi works on the step, and how its session is read", async () => {
  const bridge = await newHeadless();
  const draft = submits("a draft");
  bridge.onStep((step) => {
    if (step.text.includes("Sign: a draft")) return { text: "signed", hold: "signing" };
    return draft(step);
  });
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  await held(bridge, "signing");
  const { stdout } = await bridge.cli("show", runId);
  expect(stdout).toMatch(/^ {2}mode +headless/m);
  expect(stdout).toContain("Waits for a model's reply:");
  expect(stdout).toMatch(/^ {2}a Pi works on it$/m);
  expect(stdout).toMatch(/^ {2}read along: pi --session \S+\.jsonl --no-extensions$/m);
  const watched = await bridge.cli("watch", runId, "--timeout", "1s");
  expect(watched.stdout).toContain("sign: a Pi works on it");
  expect(watched.stderr).toBe(`the run goes on: pi-workflows watch ${runId}\n`);
  bridge.model.release("signing");
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
});
