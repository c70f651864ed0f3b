/** A Pi that stands still (SIGSTOP) while its model works: the run waits for it, or for another. */
import { expect, onTestFinished, test } from "vitest";
import { HEARTBEAT_MS } from "../../src/host/limits.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge, submits } from "../support/pi/bridge-rig.ts";
import { ONE_STEP } from "../support/pi/flows.ts";
import {
  headlessLog,
  held,
  newHeadless,
  noPi,
  pis,
  startRun,
  starts,
  TWO_STEPS,
  worksWell,
} from "../support/pi/headless-rig.ts";
import { until } from "../support/pi/until.ts";

/** Three heartbeats, on a busy machine. */
const GIVEN_UP_MS = 90_000;

test("a Pi that stood still is attached again when it goes on, and its step with it", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => ({ text: "Thinking.", hold: "turn" }));
  const runId = await bridge.start(pi, bridge.workflow("one", ONE_STEP));
  await bridge.model.held("turn");
  stop(pi.pid);
  const awakeAt = Date.now() + 3 * HEARTBEAT_MS;
  await until(() => Date.now() > awakeAt, {
    what: () => "three heartbeats",
    timeoutMs: GIVEN_UP_MS,
  });
  expect((await bridge.view(runId)).summary?.status).toBe(RunStatus.WAITING);
  process.kill(pi.pid, "SIGCONT");
  bridge.onStep(submits(7));
  bridge.model.release("turn");
  await bridge.reaches(runId, RunStatus.COMPLETED, GIVEN_UP_MS);
  expect(await bridge.shows(pi, "result")).toHaveLength(1);
});

test("a headless Pi that stands still for good is replaced, in the same session", async () => {
  const bridge = await newHeadless();
  bridge.onStep(() => ({ text: "thinking", hold: "thinking" }));
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  await held(bridge, "thinking");
  const [frozen] = pis(bridge);
  stop(frozen?.pid ?? 0);
  worksWell(bridge);
  await bridge.reaches(runId, RunStatus.COMPLETED, 3 * GIVEN_UP_MS);
  expect(starts(bridge)).toBe(2);
  const ended = headlessLog(bridge).find(({ event }) => event === "headless.ending");
  expect(ended).toMatchObject({ pid: frozen?.pid });
  await noPi(bridge);
}, 400_000);

function stop(pid: number): void {
  process.kill(pid, "SIGSTOP");
  onTestFinished(() => {
    try {
      process.kill(pid, "SIGCONT");
    } catch {
      // The host has ended it.
    }
  });
}
