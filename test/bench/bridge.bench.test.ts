import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { newBridge, submits } from "../support/pi/bridge-rig.ts";
import { ONE_STEP } from "../support/pi/flows.ts";
import { startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";
import { attachedPi } from "../support/session-rig.ts";
import { clockMs, newCommand, newProject, until, untilRested } from "./bench-host.ts";
import { ms, report } from "./report.ts";
import { summarise } from "./statistics.ts";

const SAMPLES = 20;
const SESSION = "bench";

function tell(measure: string, atMostMs: number, samples: readonly number[]): void {
  const { min, p50, p99 } = summarise(samples);
  report({
    measure: `${measure}, p50 of ${samples.length}`,
    value: p50,
    unit: "ms",
    bound: { is: "at most", value: atMostMs },
    reference: `min ${ms(min)}, max ${ms(p99)}`,
  });
}

/** A run of the session that waits for a model's result. */
async function thinking(host: RealHost): Promise<string> {
  const projectDir = newProject();
  const { receipt } = await host.runs.startRun({
    command: newCommand(),
    workflow: join(projectDir, "thinks.workflow.ts"),
    projectDir,
    originSession: SESSION,
  });
  return receipt?.runId ?? "";
}

async function waitingRequest(host: RealHost, runId: string): Promise<string> {
  return await until(async () => {
    const { run } = await host.runs.getRun({ runId });
    return run?.summary?.status === RunStatus.WAITING ? run.summary.interactionId : undefined;
  });
}

test("a submission and its verdict", async () => {
  const host = await startRealHost();
  await attachedPi(host.paths.socket, SESSION);
  await untilRested(host, false);
  const runId = await thinking(host);
  const samples: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const interactionId = await waitingRequest(host, runId);
    // A model takes longer than a spare to make ready.
    await untilRested(host);
    const began = clockMs();
    const { accepted } = await host.interactions.submitResult({
      command: newCommand(),
      interactionId,
      value: fromJson(ValueSchema, sample),
    });
    samples.push(clockMs() - began);
    expect(accepted).toBe(true);
  }
  tell("submission to accepted, warm, trivial check", 150, samples);
  await host.stop();
});

test("a change of a run and the picture that a widget draws", async () => {
  const host = await startRealHost();
  const pi = await attachedPi(host.paths.socket, SESSION);
  const runId = await thinking(host);
  await waitingRequest(host, runId);
  const samples: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const pauses = sample % 2 === 0;
    const wanted = pauses ? RunStatus.PAUSED : RunStatus.WAITING;
    const request = { command: newCommand(), runId };
    await (pauses ? host.runs.pauseRun(request) : host.runs.resumeRun(request));
    const committed = clockMs();
    await pi.until(({ runs }) => runs[0]?.summary?.status === wanted);
    samples.push(clockMs() - committed);
  }
  expect(samples).toHaveLength(SAMPLES);
  tell("commit of a transition to the picture of the session", 150, samples);
  await host.stop();
});

test("a step that is ready and its message in an idle session of the real Pi", async () => {
  const bridge = await newBridge();
  bridge.onStep(submits(7));
  const pi = await bridge.startPi();
  await pi.ask("a word, so that the session is on disk");
  const { sessionId } = await pi.state();
  const workflow = bridge.workflow("one", ONE_STEP);
  const client = await bridge.client();
  const samples: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const { receipt } = await client.runs.startRun({
      command: newCommand(),
      workflow,
      projectDir: bridge.profile.project,
      originSession: sessionId,
      allowDuplicate: true,
    });
    const runId = receipt?.runId ?? "";
    await bridge.shows(pi, "result", sample + 1);
    const { events } = await client.runs.listEvents({ runId });
    const ready = events.find(({ kind }) => kind === "wait")?.at;
    const step = (await bridge.shown(pi, "step")).find(({ details }) => details.runId === runId);
    if (ready === undefined || step === undefined) throw new Error("the step was not shown");
    samples.push(Date.parse(step.timestamp) - timestampMs(ready));
  }
  expect(samples).toHaveLength(SAMPLES);
  tell("step ready to its message in the idle session", 100, samples);
});
