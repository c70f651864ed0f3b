/** A session is left, copied, gone back in, loaded again and opened twice. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { EXTENSION, startBridge, submits } from "../support/pi/bridge-rig.ts";
import { ONE_STEP, QUESTION } from "../support/pi/flows.ts";
import { until } from "../support/pi/until.ts";
import type { Pi } from "../support/pi/pi-rpc.ts";
import type { Bridge } from "../support/pi/bridge-rig.ts";

const MOVES = join(import.meta.dirname, "../fixtures/pi-extensions/moves.ts");
const WITH_MOVES = { pi: { extensions: [EXTENSION, MOVES] } };

test("a fork has copies of a step and may not submit for it", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => "I leave it to the user.");
  const runId = await bridge.start(pi, bridge.workflow("question", QUESTION));
  const [step] = await bridge.shows(pi, "step");
  const interaction = step?.details.interactionId ?? "";
  const { sessionId } = await pi.state();
  await pi.ask("a word after the step");
  const users = (await pi.branch()).filter(
    (entry) => entry.type === "message" && entry.message.role === "user",
  );
  await pi.call("fork", { entryId: users.at(-1)?.id ?? "" });
  expect((await pi.state()).sessionId).not.toBe(sessionId);
  expect(await bridge.shown(pi, "step")).toHaveLength(1);
  const args = { action: "answer", interaction, value: true };
  await pi.ask(`#mock ${JSON.stringify([{ tool: "workflow", args }, "refused"])}`);
  const told = bridge.model.requests.at(-1)?.last;
  expect(told?.text).toContain(sessionId);
  expect((await bridge.view(runId)).summary?.status).toBe(RunStatus.WAITING);
  expect((await bridge.cli("answer", runId, "true")).code).toBe(0);
  await bridge.reaches(runId, RunStatus.COMPLETED);
});

test("going back before a step presents it again; a reload does not", async () => {
  const { bridge, pi } = await startBridge(WITH_MOVES);
  bridge.onStep(() => "I leave it to the user.");
  await pi.ask("the first word");
  const first = (await pi.branch()).find((entry) => entry.type === "message");
  const runId = await bridge.start(pi, bridge.workflow("question", QUESTION));
  await bridge.shows(pi, "step");
  await bridge.idle(pi);
  await pi.prompt("/again");
  await pi.ask("a word after the reload");
  expect(await bridge.shown(pi, "step")).toHaveLength(1);
  await pi.prompt(`/back ${first?.id}`);
  await pi.ask("a word on the other branch");
  const [again] = await bridge.shows(pi, "step");
  expect(again?.details.reason).toBe("resumed");
  expect((await bridge.cli("answer", runId, "true")).code).toBe(0);
  await bridge.reaches(runId, RunStatus.COMPLETED);
});

/** A second Pi that has the session of the first open, and knows that it looks on. */
async function standbyOf(bridge: Bridge, pi: Pi): Promise<Pi> {
  await pi.ask("a word, so that the session is on disk");
  const { sessionId } = await pi.state();
  const second = await bridge.startPi({ session: { id: sessionId } });
  await until(() => /standby|another Pi/i.test(second.status("workflow") ?? ""), {
    what: () => `a standby; it says ${second.status("workflow")}`,
  });
  return second;
}

test("a second Pi on one session stands by, and takes over when the first has gone", async () => {
  const { bridge, pi } = await startBridge();
  const second = await standbyOf(bridge, pi);
  await pi.quit();
  bridge.onStep(submits(7));
  const runId = await bridge.start(second, bridge.workflow("one", ONE_STEP));
  await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(await bridge.shown(second, "step")).toHaveLength(1);
});

test("/workflow here takes a session over, and the first Pi does not fight for it", async () => {
  const { bridge, pi } = await startBridge();
  const second = await standbyOf(bridge, pi);
  await second.prompt("/workflow here");
  await until(() => /taken over|here/i.test(pi.status("workflow") ?? ""), {
    what: () => `the end of the first; it says ${pi.status("workflow")}`,
  });
  bridge.onStep(submits(7));
  const runId = await bridge.start(second, bridge.workflow("one", ONE_STEP));
  await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(await bridge.shown(pi, "step")).toHaveLength(0);
});

test("/workflow here moves a run to another session", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => "I leave it to the user.");
  const runId = await bridge.start(pi, bridge.workflow("question", QUESTION));
  await bridge.shows(pi, "step");
  const other = await bridge.startPi();
  await other.prompt(`/workflow here ${runId}`);
  await other.ask("a word");
  await bridge.shows(other, "step");
  await other.prompt(`/workflow answer ${runId} true`);
  await bridge.reaches(runId, RunStatus.COMPLETED);
  await bridge.shows(other, "result");
  expect(await bridge.shown(pi, "result")).toHaveLength(0);
});

test("a run that ended with no Pi open is told once, in its own session only", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => "I leave it to the user.");
  const runId = await bridge.start(pi, bridge.workflow("question", QUESTION));
  await bridge.shows(pi, "step");
  const { sessionId } = await pi.state();
  await pi.quit();
  expect((await bridge.cli("answer", runId, "true")).code).toBe(0);
  await bridge.reaches(runId, RunStatus.COMPLETED);
  const stranger = await bridge.startPi();
  await stranger.ask("hello");
  const own = await bridge.startPi({ session: { id: sessionId } });
  await bridge.shows(own, "result");
  await own.ask("hello again");
  expect(await bridge.shown(own, "result")).toHaveLength(1);
  expect(await bridge.shown(stranger, "result")).toHaveLength(0);
});
