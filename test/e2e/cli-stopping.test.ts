// Somebody stops the host or cancels a run while an effect happens outside, and is told what that means.
import { describe, expect, onTestFinished, test } from "vitest";
import { EffectStatus } from "../../src/gen/piworkflows/common/v1/effect_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { statePaths } from "../../src/platform/state-folder.ts";
import { runCli } from "../support/cli-process.ts";
import { startLingering, startLingeringByCli } from "../support/lingering-run.ts";
import type { LingeringRun } from "../support/lingering-run.ts";
import { newStateFolder, startRealHost } from "../support/real-host.ts";
import { CTRL_C, hasTerminal, NEEDS_TERMINAL, Terminal } from "../support/terminal.ts";

describe("while an effect is being applied", () => {
  const WAITS = "waiting for 1 effect that is being applied";

  test("host stop says what it waits for, and ends with the effect", async () => {
    const host = await startRealHost();
    const run = await startLingering(host);
    const stopping = runCli({ paths: host.paths }, "host", "stop");
    await expect.poll(() => host.log().map(({ event }) => event)).toContain("host.stopping");
    run.release();
    expect(await stopping).toMatchObject({
      code: 0,
      stdout: `the host stopped (pid ${host.pid})\n`,
      stderr: `${WAITS}, at most ten seconds; --now does not wait\n`,
    });
    expect((await host.exited).code).toBe(0);
    expect(run.applied()).toBe(1);
  });

  test("host stop --now waits for nothing, and says nothing", async () => {
    const host = await startRealHost();
    await startLingering(host);
    const { code, stderr } = await runCli({ paths: host.paths }, "host", "stop", "--now");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("cancel tells what it has left behind, and how to say what became of it", async () => {
    const host = await startRealHost();
    const run = await startLingering(host);
    const { code, stdout } = await runCli({ paths: host.paths }, "cancel", run.runId);
    expect(code).toBe(0);
    const { effects } = await host.effects.listEffects({ runId: run.runId });
    expect(effects.map(({ status }) => status)).toEqual([EffectStatus.AMBIGUOUS]);
    const resolve = `pi-workflows effects resolve ${effects[0]?.effectId}`;
    expect(stdout).toContain("The run ended with an effect whose outcome is unknown");
    expect(stdout).toContain(`${resolve} --applied JSON`);
    expect(stdout).toContain(`${resolve} --not-applied`);
    // There is no run any more that could do it again.
    expect(stdout).not.toContain("--retry");
  });

  describe.skipIf(!hasTerminal())(`Ctrl-C at host run (${NEEDS_TERMINAL})`, () => {
    async function hostInTerminal(): Promise<{ terminal: Terminal; run: LingeringRun }> {
      const folder = newStateFolder();
      const paths = statePaths({ ...process.env, PI_WORKFLOWS_HOME: folder });
      const terminal = new Terminal({ paths }, "host run");
      await terminal.shows("the host runs here");
      const run = await startLingeringByCli(paths);
      onTestFinished(() => run.release());
      return { terminal, run };
    }

    test("once says what it waits for, and ends with the effect", async () => {
      const { terminal, run } = await hostInTerminal();
      terminal.type(CTRL_C);
      await terminal.shows(`stopping; ${WAITS}; Ctrl-C again does not wait`);
      run.release();
      expect(await terminal.exitCode()).toBe(0);
      expect(run.applied()).toBe(1);
    });

    test("twice does not wait", async () => {
      const { terminal } = await hostInTerminal();
      terminal.type(CTRL_C);
      await terminal.shows("Ctrl-C again does not wait");
      terminal.type(CTRL_C);
      expect(await terminal.exitCode()).toBe(130);
    });
  });
});

test("cancel of a run that left nothing behind says nothing more", async () => {
  const host = await startRealHost();
  const run = await startLingering(host);
  run.release();
  await expect
    .poll(async () => (await host.runs.getRun({ runId: run.runId })).run?.summary?.status, {
      timeout: 60_000,
    })
    .toBe(RunStatus.WAITING);
  const { code, stdout } = await runCli({ paths: host.paths }, "cancel", run.runId);
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
});
