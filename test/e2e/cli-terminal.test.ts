// What a person at a terminal is asked, and what becomes of the answer.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { runCli } from "../support/cli-process.ts";
import { startFakeHost, stateFolder } from "../support/fake-host.ts";
import type { FakeServices } from "../support/fake-host.ts";
import { newStateFolder, startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";
import { CTRL_C, CTRL_D, hasTerminal, NEEDS_TERMINAL, Terminal } from "../support/terminal.ts";

const QUESTION = `import { checkpoint, compute, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "question",
  startAt: "ask",
  nodes: {
    ask: checkpoint({
      summary: "Ship it?",
      run: () => ({ version: "1.2.3" }),
      schema: { enum: ["ship", "hold"] },
    }),
    after: compute({ run: ({ outputs }) => ({ answered: outputs.ask }) }),
  },
  edges: [{ from: "ask", to: "after" }],
});
`;

describe.skipIf(!hasTerminal())(`the question of a run (${NEEDS_TERMINAL})`, () => {
  let host: RealHost;
  let place: { readonly paths: StatePaths; readonly cwd: string };

  beforeEach(async () => {
    const folder = newStateFolder();
    const cwd = join(folder, "project");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "question.workflow.ts"), QUESTION);
    const state = join(folder, "state");
    mkdirSync(state, { mode: 0o700 });
    host = await startRealHost({ folder: state });
    place = { paths: host.paths, cwd };
  });

  /** A run that waits with its question. */
  async function waiting(): Promise<string> {
    const { code, stdout } = await runCli(
      place,
      "start",
      "question.workflow.ts",
      "--wait",
      "--json",
    );
    expect(code).toBe(13);
    const { runs } = await host.runs.listRuns({});
    expect(runs).toHaveLength(1);
    expect(stdout).toContain(runs[0]?.runId);
    return runs[0]?.runId ?? "";
  }

  async function statusOf(runId: string): Promise<RunStatus | undefined> {
    return (await host.runs.getRun({ runId })).run?.summary?.status;
  }

  test("is shown with its subject and its choices, and is asked again after a wrong answer", async () => {
    const runId = await waiting();
    const terminal = new Terminal(place, `answer ${runId}`);
    for (const words of ["Ship it?", "1.2.3", "1  ship", "2  hold", "type a number or a choice"])
      await terminal.shows(words);
    await terminal.shows("> ");
    terminal.type("perhaps\r");
    await terminal.shows("allowed: ship, hold");
    await terminal.shows("> ");
    expect(await statusOf(runId)).toBe(RunStatus.WAITING);
    terminal.type("2\r");
    await terminal.shows("answered int_");
    expect(await terminal.exitCode()).toBe(0);
    const { code, stdout } = await runCli(place, "watch", runId);
    expect(code).toBe(0);
    expect(stdout).toContain('"answered": "hold"');
  });

  test.each([
    ["Ctrl-C", CTRL_C],
    ["Ctrl-D", CTRL_D],
  ])("stays open when the person leaves with %s", async (_name, key) => {
    const runId = await waiting();
    const terminal = new Terminal(place, `answer ${runId}`);
    await terminal.shows("> ");
    terminal.type(key);
    await terminal.shows("nothing was answered");
    expect(await terminal.exitCode()).toBe(13);
    expect(await statusOf(runId)).toBe(RunStatus.WAITING);
  });

  test("that somebody else has answered meanwhile is not answered twice", async () => {
    const runId = await waiting();
    const terminal = new Terminal(place, `answer ${runId}`);
    await terminal.shows("> ");
    expect((await runCli(place, "answer", runId, '"ship"')).code).toBe(0);
    terminal.type("hold\r");
    await terminal.shows('"Ship it?" was answered meanwhile: "ship" (by cli)');
    expect(await terminal.exitCode()).toBe(3);
    const { stdout } = await runCli(place, "watch", runId);
    expect(stdout).toContain('"answered": "ship"');
  });

  test("is asked by start --wait, which then goes on to the result", async () => {
    const terminal = new Terminal(place, "start question.workflow.ts --wait");
    await terminal.shows("Ship it?");
    await terminal.shows("> ");
    terminal.type("ship\r");
    await terminal.shows('"answered": "ship"');
    expect(await terminal.exitCode()).toBe(0);
    expect(terminal.text.split("1.2.3")).toHaveLength(2);
  });

  test("is left open by start --wait with Ctrl-D, and the way back is told", async () => {
    const terminal = new Terminal(place, "start question.workflow.ts --wait");
    await terminal.shows("> ");
    terminal.type(CTRL_D);
    await terminal.shows('the run waits for an answer ("Ship it?"): pi-workflows answer int_');
    expect(await terminal.exitCode()).toBe(16);
    const { runs } = await host.runs.listRuns({});
    expect(runs.map(({ status }) => status)).toEqual([RunStatus.WAITING]);
  });

  test("is answered to the next host when this one dies before the person has decided", async () => {
    const terminal = new Terminal(place, "start question.workflow.ts --wait");
    await terminal.shows("> ");
    await host.kill();
    host = await startRealHost({ folder: host.paths.folder });
    terminal.type("hold\r");
    await terminal.shows('"answered": "hold"');
    expect(await terminal.exitCode()).toBe(0);
  });

  test("prune deletes after a yes, and only then", async () => {
    const runId = await waiting();
    expect((await runCli(place, "answer", runId, '"ship"')).code).toBe(0);
    expect((await runCli(place, "watch", runId)).code).toBe(0);
    const refused = new Terminal(place, "prune --older-than 0s");
    await refused.shows("Delete 1 run");
    await refused.shows("[y/N] ");
    refused.type("\r");
    await refused.shows("nothing was deleted");
    expect(await refused.exitCode()).toBe(3);
    expect((await host.runs.listRuns({})).runs).toHaveLength(1);
    const agreed = new Terminal(place, "prune --older-than 0s");
    await agreed.shows("[y/N] ");
    agreed.type("yes\r");
    await agreed.shows("deleted 1 run");
    expect(await agreed.exitCode()).toBe(0);
    expect((await host.runs.listRuns({})).runs).toEqual([]);
  });
});

describe.skipIf(!hasTerminal())(`doctor --repair (${NEEDS_TERMINAL})`, () => {
  const finding = {
    invariant: "one_claim",
    runId: "run_01jd0000000000000000000001",
    message: "a claim without a worker",
    repair: "end the claim",
  };

  test.each([
    ["n\r", [true], "wrong", 3],
    [CTRL_D, [true], "wrong", 3],
    ["y\r", [true, false], "mended", 0],
  ])("answered with %j repairs as it was told: %j", async (key, calls, word, code) => {
    const asked: boolean[] = [];
    const paths = await fakeHost({
      host: {
        getStatus: () => ({ state: "serving", pid: process.pid, version: "0.1.0" }),
        diagnose: () => ({ findings: [finding] }),
        repair: ({ dryRun }) => {
          asked.push(dryRun);
          return { repaired: [finding], remaining: [] };
        },
      },
    });
    const terminal = new Terminal({ paths }, "doctor --repair");
    await terminal.shows("a claim without a worker: end the claim");
    await terminal.shows("Do that (1 repair)? [y/N] ");
    expect(asked).toEqual([true]);
    terminal.type(key);
    await terminal.shows(word);
    expect(await terminal.exitCode()).toBe(code);
    expect(asked).toEqual(calls);
  });
});

async function fakeHost(services: FakeServices): Promise<StatePaths> {
  const { paths, remove } = stateFolder();
  onTestFinished(remove);
  const host = await startFakeHost(paths, services);
  onTestFinished(() => host.stop());
  return paths;
}
