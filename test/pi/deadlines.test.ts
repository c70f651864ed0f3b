/** Deadlines that nobody sees pass. */
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge, submits } from "../support/pi/bridge-rig.ts";
import { ONE_STEP } from "../support/pi/flows.ts";
import { until } from "../support/pi/until.ts";

const SHORT = `
import { agent, compute, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "short",
  startAt: "think",
  result: "card",
  nodes: {
    think: agent({ prompt: "Think.", timeoutMs: 6_000 }),
    late: compute({ run: () => "nobody came" }),
    fine: compute({ run: () => "somebody came" }),
  },
  edges: [
    { from: "think", switch: { on: "$result.outcome", cases: { ok: "fine", timed_out: "late" } } },
  ],
});
`;

test("one that passes with Pi closed and the host stopped takes its route, and frees the session", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => ({ text: "Thinking.", hold: "turn" }));
  const runId = await bridge.start(pi, bridge.workflow("short", SHORT));
  await bridge.model.held("turn");
  const { sessionId } = await pi.state();
  await pi.kill();
  await bridge.host().stop();
  bridge.model.release("turn");
  const { interaction } = await bridge.view(runId).catch(() => ({ interaction: undefined }));
  const due = Number(interaction?.deadlineAt?.seconds ?? BigInt(Math.ceil(Date.now() / 1_000) + 6));
  await until(() => Date.now() / 1_000 > due, { what: () => "the deadline" });
  const { result } = await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(result?.kind.value).toBe("nobody came");
  bridge.onStep(submits(7));
  const again = await bridge.startPi({ session: { id: sessionId } });
  const next = await bridge.start(again, bridge.workflow("one", ONE_STEP));
  await bridge.reaches(next, RunStatus.COMPLETED);
});
