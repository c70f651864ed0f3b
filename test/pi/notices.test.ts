/** News of a run: shown, never answered, never twice. */
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startBridge } from "../support/pi/bridge-rig.ts";

const THREE = `
import { compute, defineWorkflow, notify, wait } from "pi-workflows";
export default defineWorkflow({
  name: "three",
  startAt: "count",
  result: "card",
  nodes: {
    count: compute({ run: ({ outputs }: any) => ({ n: (outputs.count?.n ?? 0) + 1, more: (outputs.count?.n ?? 0) < 2 ? "yes" : "no" }) }),
    tell: notify({ message: ({ outputs }: any) => "round " + outputs.count.n }),
    rest: wait({ forMs: 50 }),
    again: compute({ run: ({ outputs }: any) => ({ more: outputs.count.more }) }),
    end: compute({ run: () => "three rounds" }),
  },
  edges: [
    { from: "count", to: "tell" },
    { from: "tell", to: "rest" },
    { from: "rest", to: "again" },
    { from: "again", switch: { on: "$.more", cases: { yes: "count", no: "end" } } },
  ],
});
`;

test("notes of a loop come once each and start no turn, also when the host is killed", async () => {
  const { bridge, pi } = await startBridge();
  const since = pi.mark();
  const runId = await bridge.start(pi, bridge.workflow("three", THREE));
  await bridge.shows(pi, "notification", 1);
  await bridge.killHost();
  await bridge.reaches(runId, RunStatus.COMPLETED);
  await bridge.shows(pi, "result");
  const notes = await bridge.shown(pi, "notification");
  expect(notes.map(({ content }) => /round \d/.exec(JSON.stringify(content))?.[0])).toEqual([
    "round 1",
    "round 2",
    "round 3",
  ]);
  // The user's own prompt is the only turn, and its tool call the only second request.
  expect(pi.all("agent_settled", since)).toHaveLength(1);
  expect(bridge.model.requests).toHaveLength(2);
});
