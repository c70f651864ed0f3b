/** Runs without a session: the host starts the real Pi for their steps, and ends it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunMode, RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { EXTENSION, submits } from "../support/pi/bridge-rig.ts";
import type { Bridge } from "../support/pi/bridge-rig.ts";
import {
  headlessLog,
  held,
  newHeadless,
  noPi,
  pis,
  running,
  startHost,
  startRun,
  starts,
  TWO_STEPS,
  worksWell,
} from "../support/pi/headless-rig.ts";
import { PI_CLI } from "../support/pi/pi-profile.ts";
import { until } from "../support/pi/until.ts";

/** Sessions that the host's Pis keep of a run, as text. */
function sessionFiles(bridge: Bridge, runId: string): readonly string[] {
  const folder = join(bridge.paths.piSessionsDir, runId);
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
}

test("both steps of a run are done by one Pi, which then ends", async () => {
  const bridge = await newHeadless();
  worksWell(bridge);
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  const view = await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  expect(view.summary?.mode).toBe(RunMode.HEADLESS);
  const { stdout } = await bridge.cli("show", runId, "--json");
  expect(stdout).toContain("signed");
  await noPi(bridge);
  expect(starts(bridge)).toBe(1);
  expect((await bridge.cli("doctor")).stdout).toMatch(/^ok +Pi +1\.6\.0 \(/m);
  const [session = ""] = sessionFiles(bridge, runId);
  expect(session).toContain("Write a draft.");
  expect(session).toContain("Sign: a draft");
  // Its steps are all that was ever said to it.
  expect(bridge.model.requests.every(({ lastUserText }) => lastUserText.includes('"two"'))).toBe(
    true,
  );
});

test("a cancel ends the run's Pi with everything that it runs", async () => {
  const bridge = await newHeadless();
  const command = "sleep 4711 & (sleep 4712 & exec setsid sleep 4713) & wait";
  bridge.onStep(() => ({ tool: "bash", args: { command } }));
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  await until(() => running(bridge, "sleep 471").length >= 3, {
    what: () => "three sleeps",
    timeoutMs: 60_000,
  });
  expect((await bridge.cli("cancel", runId)).code).toBe(0);
  await noPi(bridge);
  await until(() => running(bridge, "sleep 471").length === 0, {
    what: () => "the end of the sleeps",
  });
  expect((await bridge.view(runId)).summary?.status).toBe(RunStatus.CANCELLED);
});

test("the death of the host leaves no Pi, and the next host goes on in the same session", async () => {
  const bridge = await newHeadless();
  const draft = submits("a draft");
  bridge.onStep((step) => {
    if (step.text.includes("Sign: a draft")) return { text: "signed", hold: "signing" };
    return draft(step);
  });
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  await held(bridge, "signing");
  const [pi] = pis(bridge);
  await bridge.killHost();
  await until(() => !pis(bridge).some(({ pid }) => pid === pi?.pid), { what: () => "its end" });
  // Nor does the Pi, on its way out, start a host that would start another Pi.
  expect(running(bridge, "host.cjs")).toEqual([]);

  worksWell(bridge);
  await startHost(bridge);
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  const sessions = sessionFiles(bridge, runId);
  expect(sessions).toHaveLength(1);
  expect(sessions[0]).toContain("Write a draft.");
  const { stdout } = await bridge.cli("events", runId, "--json");
  // The host's death is no fault of the run.
  expect(stdout).toMatch(/"reason":\s*"resumed"/);
  expect(stdout).not.toMatch(/"lostTurns":\s*"?[1-9]/);
});

test("a host that is killed in the middle of a command leaves nothing of it", async () => {
  const bridge = await newHeadless();
  bridge.onStep(() => ({
    tool: "bash",
    args: { command: "sleep 4721 & setsid sleep 4722; wait" },
  }));
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  await until(() => running(bridge, "sleep 472").length >= 2, {
    what: () => "two sleeps",
    timeoutMs: 60_000,
  });
  await bridge.killHost();
  await noPi(bridge);
  worksWell(bridge);
  await startHost(bridge);
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  // What Pi itself did not end is ended by the next host before it goes on.
  expect(running(bridge, "sleep 472")).toEqual([]);
});

test("a Pi inside a step is nobody to the run", async () => {
  const bridge = await newHeadless();
  const node = process.execPath;
  const nested = (args: string): string =>
    `(echo '{"type":"get_state"}'; sleep 4) | '${node}' '${PI_CLI}' --mode rpc --no-approve ${args}`;
  const done = submits("a draft");
  bridge.onStep((step) => {
    if (step.text.includes("Sign: a draft")) return "signed";
    if (step.answersSince > 0) return done({ ...step, last: lastOf(step.last.text) });
    const id = step.text.match(/\bint_\w+/)?.[0] ?? "";
    const session = `$(basename "$(dirname "$PWD")")`;
    const command = [
      'echo "secret=[$PI_WORKFLOWS_SESSION_SECRET]"',
      nested(`-e '${EXTENSION}' --session-id inner`),
      nested(`-e '${EXTENSION}' --session-id "wf-$RUN" --session-dir "$SESSIONS"`),
      `echo "${id} ${session}"`,
    ].join("\n");
    const sessions = `SESSIONS='${bridge.profile.folder}/inner'`;
    return { tool: "bash", args: { command: `RUN='${runIdOf(bridge)}' ${sessions}\n${command}` } };
  });
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  const result = bridge.model.requests.find(({ last }) => last.text.includes("secret=["));
  expect(result?.last.text).toContain("secret=[]");
  expect(result?.last.text).toContain('"sessionId":"inner"');
  // Nobody but the run's own Pi was shown a step.
  expect(readdirSync(join(bridge.profile.folder, "inner"))).toEqual([]);
  expect(starts(bridge)).toBe(1);
});

/** The tool's result of the nested command is no result of a submission. */
function lastOf(text: string): { role: string; text: string; calls: readonly string[] } {
  return { role: text.includes("secret=[") ? "bash" : "tool", text, calls: [] };
}

function runIdOf(bridge: Bridge): string {
  return headlessLog(bridge).at(-1)?.runId ?? "";
}

test("without Pi the step fails with what to do about it", async () => {
  const bridge = await newHeadless({ hostSettings: { piCommand: "/nowhere/pi" } });
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  const { stdout } = await until(
    async () => {
      const shown = await bridge.cli("show", runId, "--json");
      return shown.stdout.includes("pi_unavailable") ? shown : undefined;
    },
    { what: () => "the failure", timeoutMs: 30_000 },
  );
  expect(stdout).toContain("the setting piCommand names /nowhere/pi, which is no program");
  expect(stdout).toContain("the PATH is ");
  expect((await bridge.cli("doctor")).stdout).toMatch(/^wrong +Pi +.*piCommand/m);
  expect((await bridge.view(runId)).summary?.status).toBe(RunStatus.FAILED);
});

test("without a model the step fails at once and says how to get one", async () => {
  const bridge = await newHeadless();
  writeFileSync(join(bridge.profile.agentDir, "models.json"), "{}");
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  await bridge.reaches(runId, RunStatus.FAILED);
  const { stdout } = await bridge.cli("show", runId, "--json");
  expect(stdout).toContain("pi_unavailable");
  expect(stdout).toContain("/login");
  expect(starts(bridge)).toBe(1);
  await noPi(bridge);
});

test("a pause ends the Pi, and a resume goes on with the step", async () => {
  const bridge = await newHeadless();
  bridge.onStep(() => ({ text: "thinking", hold: "thinking" }));
  const runId = await startRun(bridge, bridge.workflow("two", TWO_STEPS));
  await held(bridge, "thinking");
  const { stdout } = await bridge.cli("host", "status");
  expect(stdout).toMatch(new RegExp(`hpi_\\w+ .* pi .*${runId}`));
  expect((await bridge.cli("pause", runId)).code).toBe(0);
  await noPi(bridge);
  expect((await bridge.view(runId)).summary?.status).toBe(RunStatus.PAUSED);
  worksWell(bridge);
  expect((await bridge.cli("resume", runId)).code).toBe(0);
  await bridge.reaches(runId, RunStatus.COMPLETED, 60_000);
  expect(starts(bridge)).toBe(2);
});
