/** When a step goes into a session: never into what the user does, and told to whoever listens then. */
import { describe, expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge, submits } from "../support/pi/bridge-rig.ts";
import type { Bridge, BridgeOptions, OnStep } from "../support/pi/bridge-rig.ts";
import type { Pi } from "../support/pi/pi-rpc.ts";

const ASKS = `
import { agent, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "asks",
  startAt: "draft",
  nodes: { draft: agent({ prompt: "Write the notes.", expectedOutput: "a text" }) },
});
`;

/** The first time the model is shown the step its answer is held under "step"; later it submits. */
function holdsOnce(): OnStep {
  let held = false;
  const answers = submits("- faster");
  return (step) => {
    if (held) return answers(step);
    held = true;
    return { text: "I am thinking", hold: "step" };
  };
}

interface InTurn {
  readonly bridge: Bridge;
  readonly pi: Pi;
  readonly runId: string;
}

/** A run whose step the model works on just now. */
async function inTurn(options: BridgeOptions = {}): Promise<InTurn> {
  const { bridge, pi } = await startBridge(options);
  bridge.onStep(holdsOnce());
  const runId = await bridge.start(pi, bridge.workflow("asks", ASKS));
  await bridge.model.held("step");
  return { bridge, pi, runId };
}

const reasons = async (bridge: Bridge, pi: Pi): Promise<readonly string[]> =>
  (await bridge.shown(pi, "step")).map(({ details }) => details.reason);

/** Roles of the branch, a message of ours by its kind. */
async function order(pi: Pi): Promise<readonly string[]> {
  return (await pi.branch()).flatMap((entry) => {
    // Ours are the only custom messages of these tests.
    if (entry.type === "custom_message") return [(entry.details as { kind: string }).kind];
    return entry.type === "message" && entry.message.role === "user" ? ["user"] : [];
  });
}

describe("a step", () => {
  test("that comes while the user's turn runs waits for its end, and has a turn of its own", async () => {
    const { bridge, pi } = await startBridge();
    bridge.onStep(submits("- faster"));
    const path = bridge.workflow("asks", ASKS);
    const start = { tool: "workflow", args: { action: "start", workflow: path } };
    const since = pi.mark();
    await pi.prompt(`#mock ${JSON.stringify([start, { text: "still busy", hold: "user" }])}`);
    await bridge.model.held("user");
    const [run] = await bridge.runs();
    const runId = run?.runId ?? "";
    await bridge.reaches(runId, RunStatus.WAITING);
    expect(await bridge.shown(pi)).toEqual([]);
    bridge.model.release("user");
    await bridge.reaches(runId, RunStatus.COMPLETED);
    // The user's, the step's and the result's.
    await pi.settled(3, { since });
    expect(await order(pi)).toEqual(["user", "step", "result"]);
  });

  test("that waits for a reopened Pi does not get in the way of the user's first words", async () => {
    const { bridge, pi, runId } = await inTurn();
    const { sessionFile = "" } = await pi.state();
    await pi.quit();
    const again = await bridge.startPi({ session: { file: sessionFile } });
    expect(await again.prompt('#mock ["hello yourself"]')).toBe("started");
    await bridge.reaches(runId, RunStatus.COMPLETED);
    await bridge.shows(again, "result");
    expect(await order(again)).toEqual(["user", "step", "user", "step", "result"]);
  });

  test("is shown again when the user compacts in its turn, and the run does not pause", async () => {
    // Of a short session Pi says that there is nothing to compact.
    const compaction = { enabled: true, reserveTokens: 1_000, keepRecentTokens: 1 };
    const { bridge, pi, runId } = await inTurn({ settings: { compaction } });
    bridge.model.enqueue("what was said", "what was said in this turn");
    await pi.call("compact", {});
    await bridge.reaches(runId, RunStatus.COMPLETED);
    expect(await reasons(bridge, pi)).toEqual(["first", "resumed"]);
    expect(bridge.model.queued).toBe(0);
  });

  test("is shown again also when there was nothing to compact", async () => {
    const { bridge, pi, runId } = await inTurn();
    await expect(pi.call("compact", {})).rejects.toThrow("Nothing to compact");
    await bridge.reaches(runId, RunStatus.COMPLETED);
    expect(await reasons(bridge, pi)).toEqual(["first", "resumed"]);
  });

  test("ends its turn while no host serves, and the next one hears how it ended", async () => {
    const { bridge, pi, runId } = await inTurn();
    await bridge.killHost();
    const since = pi.mark();
    bridge.model.release("step");
    await pi.settled(1, { since });
    // It ended by itself and without an answer: that is reminded of, and no loss.
    await bridge.reaches(runId, RunStatus.COMPLETED);
    expect(await reasons(bridge, pi)).toEqual(["first", "reminder"]);
  });
});
