/** Results that come too late, and where they are checked. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { newBridge, startBridge, submits } from "../support/pi/bridge-rig.ts";
import { ONE_STEP } from "../support/pi/flows.ts";
import { signalTo } from "../support/pi/pi-process-check.ts";
import { until } from "../support/pi/until.ts";

/** Says who validates, and waits there for a word of the test. */
const WITNESSED = `
import { existsSync, writeFileSync } from "node:fs";
import { agent, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "witnessed",
  startAt: "think",
  result: "card",
  nodes: {
    think: agent({
      prompt: "Think of a number.",
      timeoutMs: 30_000,
      async validate(value: any) {
        writeFileSync("validator-" + value, String(process.pid));
        while (!existsSync("go-" + value)) await new Promise((resolve) => setTimeout(resolve, 10));
        return value;
      },
    }),
  },
  edges: [],
});
`;

const RETRIED = ONE_STEP.replace(
  'prompt: "Think of a number.",',
  'prompt: "Think of a number.", retry: { maxAttempts: 2, backoffMs: 1 },',
);

test("validation runs in a worker; its death rejects that submission only", async () => {
  const { bridge, pi } = await startBridge();
  const told: string[] = [];
  bridge.onStep(({ interactionId, answersSince, last }) => {
    if (last.role === "tool") told.push(last.text);
    if (answersSince > 1) return "Done.";
    const args = { action: "submit", interaction: interactionId, value: answersSince + 1 };
    return { tool: "workflow", args };
  });
  const runId = await bridge.start(pi, bridge.workflow("witnessed", WITNESSED));
  const { project } = bridge.profile;
  const witness = join(project, "validator-1");
  await until(() => existsSync(witness) && readFileSync(witness, "utf8") !== "", {
    what: () => "a validation",
  });
  const validator = Number(readFileSync(witness, "utf8"));
  expect([pi.pid, bridge.host().pid, process.pid]).not.toContain(validator);
  signalTo(validator, "SIGKILL");
  bridge.profile.writeProjectFile("go-2", "");
  await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(told[0]).toContain("submit the result again");
  const client = await bridge.client();
  const { events } = await client.runs.listEvents({ runId });
  const kinds = events.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "reject")).toHaveLength(1);
  expect(kinds).not.toContain("interrupt");
});

test("a result for a request that a retry or a restart has replaced is refused by name", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => "I leave it.");
  const runId = await bridge.start(pi, bridge.workflow("retried", RETRIED));
  const client = await bridge.client();
  const requests = async () =>
    (await client.interactions.listInteractions({ runId, includeClosed: true })).interactions;
  await until(async () => (await requests()).length > 1, { what: () => "a second attempt" });
  const [old] = await requests();
  const args = { action: "submit", interaction: old?.interactionId ?? "", value: 7 };
  await pi.ask(`#mock ${JSON.stringify([{ tool: "workflow", args }, "refused"])}`);
  const told = bridge.model.requests.flatMap(({ last: { role, text } }) =>
    role === "tool" ? [text] : [],
  );
  expect(told.findLast((text) => text.includes(old?.interactionId ?? "none"))).toMatch(
    /is cancelled/,
  );
  await bridge.reaches(runId, RunStatus.FAILED);
  const { code, stdout } = await bridge.cli("restart", runId, "--json");
  expect(code).toBe(0);
  const again = (JSON.parse(stdout) as { receipt: { runId: string } }).receipt.runId;
  bridge.onStep(submits(7));
  await bridge.reaches(again, RunStatus.COMPLETED);
  expect((await bridge.view(runId)).summary?.status).toBe(RunStatus.FAILED);
});

test("a deadline that passes while the run is paused is settled by the resume", async () => {
  const { bridge, pi } = await startBridge();
  bridge.onStep(() => ({ text: "Thinking.", hold: "turn" }));
  const path = bridge.workflow(
    "short",
    ONE_STEP.replace('prompt: "Think of a number.",', 'prompt: "Think.", timeoutMs: 8_000,'),
  );
  const runId = await bridge.start(pi, path);
  await bridge.model.held("turn");
  expect((await bridge.cli("pause", runId)).code).toBe(0);
  bridge.model.release("turn");
  const { interaction } = await bridge.view(runId);
  const due = Number(interaction?.deadlineAt?.seconds ?? 0n) + 1;
  await until(() => Date.now() / 1_000 > due, { what: () => "the deadline" });
  expect((await bridge.view(runId)).summary?.status).toBe(RunStatus.PAUSED);
  expect((await bridge.cli("resume", runId)).code).toBe(0);
  await bridge.reaches(runId, RunStatus.TIMED_OUT);
});

test("a host that dies between the commit of a submission and its answer is asked again", async () => {
  const bridge = await newBridge();
  const marks = bridge.profile.folder;
  const { code } = await bridge.cliWith(
    { PI_WORKFLOWS_CRASH: "commit.after:SubmitResult", PI_WORKFLOWS_CRASH_ONCE: marks },
    "host",
    "start",
  );
  expect(code).toBe(0);
  const pi = await bridge.startPi();
  bridge.onStep(submits(7));
  const runId = await bridge.start(pi, bridge.workflow("one", ONE_STEP));
  await bridge.reaches(runId, RunStatus.COMPLETED);
  expect(existsSync(join(marks, "died-at-commit-after-SubmitResult"))).toBe(true);
  const client = await bridge.client();
  const { events } = await client.runs.listEvents({ runId });
  expect(events.filter(({ kind }) => kind === "validate")).toHaveLength(1);
  expect(pi.all("tool_execution_end").at(-1)?.isError).toBe(false);
});
