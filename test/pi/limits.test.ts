/** Providers that refuse, models that fail, and turns whose end nobody saw. */
import { expect, test } from "vitest";
import { DeliveryState } from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { BlockReason, RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge, submits } from "../support/pi/bridge-rig.ts";
import { until } from "../support/pi/until.ts";
import { ONE_STEP } from "../support/pi/flows.ts";

const NO_RETRY = { settings: { retry: { maxRetries: 0, baseDelayMs: 20 } } };

const ROUTED = ONE_STEP.replace(
  "edges: []",
  'edges: [{ from: "think", switch: { on: "$result.outcome", cases: { ok: "fine", failed: "sad" } } }]',
)
  .replace(
    "  nodes: {",
    '  nodes: {\n    fine: compute({ run: () => "fine" }),\n    sad: compute({ run: ({ results }: any) => results.think.error.name }),',
  )
  .replace("import { agent, ", "import { agent, compute, ");

function limit(message: string, code: string) {
  return { status: 429, body: JSON.stringify({ error: { message, type: code, code } }) };
}

test("a rate limit holds the step until the provider's time, uncounted, and then goes on", async () => {
  const { bridge, pi } = await startBridge(NO_RETRY);
  let refusals = 0;
  bridge.onStep((step) => {
    refusals += 1;
    return refusals === 1
      ? limit("Rate limit reached. Please try again in 2s.", "rate_limit_exceeded")
      : submits(7)(step);
  });
  const runId = await bridge.start(pi, bridge.workflow("one", ONE_STEP));
  await until(async () => (await bridge.view(runId)).summary?.delivery === DeliveryState.HELD, {
    what: () => "a held step",
  });
  const { interaction } = await bridge.view(runId);
  expect(interaction?.heldUntil).toBeDefined();
  expect(interaction?.reminders).toBe(0);
  await bridge.reaches(runId, RunStatus.COMPLETED);
  const reasons = (await bridge.shown(pi, "step")).map(({ details }) => details.reason);
  expect(reasons).toEqual(["first", "rate_limit"]);
});

test("a usage limit holds all steps of the session, and shows until when", async () => {
  const { bridge, pi } = await startBridge(NO_RETRY);
  bridge.onStep(() =>
    limit("You have hit your usage limit. Try again in 3 hours.", "usage_limit_reached"),
  );
  const paths = ["one", "two"].map((name) =>
    bridge.workflow(name, ONE_STEP.replace('"one"', `"${name}"`)),
  );
  const runs = await bridge.startAll(pi, paths);
  const held = async (): Promise<boolean> => {
    const views = await Promise.all(runs.map((runId) => bridge.view(runId)));
    return views.every(({ summary }) => summary?.delivery === DeliveryState.HELD);
  };
  await until(held, { what: () => "two held steps" });
  expect(await bridge.shown(pi, "step")).toHaveLength(1);
  const { interaction } = await bridge.view(runs[0] ?? "");
  const until3h = Number(interaction?.heldUntil?.seconds ?? 0n) * 1_000 - Date.now();
  expect(until3h).toBeGreaterThan(2.9 * 3_600_000);
});

test("a model that fails after every back-off fails the attempt as model_error, which is routed", async () => {
  const { bridge, pi } = await startBridge(NO_RETRY);
  bridge.onStep(() => ({
    status: 400,
    body: JSON.stringify({ error: { message: "bad request" } }),
  }));
  const runId = await bridge.start(pi, bridge.workflow("routed", ROUTED));
  const { result } = await bridge.reaches(runId, RunStatus.COMPLETED, 90_000);
  expect(result?.kind.value).toBe("model_error");
});

test("three lost turns in a row block the run", async () => {
  const { bridge, pi } = await startBridge();
  let turn = 0;
  bridge.onStep(() => ({ text: "Thinking.", hold: `turn ${turn}` }));
  const runId = await bridge.start(pi, bridge.workflow("one", ONE_STEP));
  const { sessionId } = await pi.state();
  let present = pi;
  while (turn < 3) {
    await bridge.model.held(`turn ${turn}`);
    await until(
      async () => (await bridge.view(runId)).summary?.delivery === DeliveryState.WORKING,
      { what: () => "an open turn" },
    );
    await present.kill();
    bridge.model.release(`turn ${turn}`);
    turn += 1;
    present = await bridge.startPi({ session: { id: sessionId } });
  }
  const { summary } = await bridge.reaches(runId, RunStatus.BLOCKED);
  expect(summary?.blockReason).toBe(BlockReason.NO_PROGRESS);
});
