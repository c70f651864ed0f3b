import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Outcome } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { runCli, runOnTerminal, runShell } from "../support/cli-process.ts";
import { startFakeHost, stateFolder } from "../support/fake-host.ts";
import type { FakeServices } from "../support/fake-host.ts";

const RUN = "run_01jd0000000000000000000001";

let paths: StatePaths;

beforeEach(() => {
  const folder = stateFolder();
  paths = folder.paths;
  onTestFinished(folder.remove);
});

async function fakeHost(services: FakeServices): Promise<void> {
  const host = await startFakeHost(paths, services);
  onTestFinished(() => host.stop());
}

const summary = () => ({ runId: RUN, workflow: "w", title: "t", status: RunStatus.COMPLETED });

describe("what is not shown on a terminal", () => {
  const effect = {
    effectId: "eff_01jd0000000000000000000001",
    runId: RUN,
    node: "pay",
    type: "charge",
    policy: "manual",
    key: "k".repeat(200),
    detail: "d".repeat(200),
  };

  test("is never cut: a row is a line with everything", async () => {
    await fakeHost({ effects: { listEffects: () => ({ effects: [effect] }) } });
    const { stdout } = await runCli({ paths }, "effects", "list");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    for (const text of ["manual", effect.key, effect.detail]) expect(stdout).toContain(text);
    const shown = await runOnTerminal({ paths }, "effects list");
    expect(shown.stdout).toContain("manual");
  });
});

describe("an answer to a run", () => {
  test("that was given already goes to the question it was given to", async () => {
    const interaction = { interactionId: "int_01jd0000000000000000000001", summary: "Go on?" };
    const answered: string[] = [];
    await fakeHost({
      runs: { getRun: () => ({ run: { summary: summary() } }) },
      interactions: {
        listInteractions: () => ({ interactions: [{ interactionId: "int_old" }, interaction] }),
        getInteraction: () => ({ interaction }),
        answerCheckpoint: ({ interactionId }) => {
          answered.push(interactionId);
          return { receipt: { outcome: Outcome.ADOPTED } };
        },
      },
    });
    const { code, stdout } = await runCli({ paths }, "answer", RUN, "true");
    expect(code).toBe(0);
    expect(stdout).toBe(`${interaction.interactionId} had this answer already: Go on?\n`);
    expect(answered).toEqual([interaction.interactionId]);
  });
});

describe("bash", () => {
  test.each(["--format ''", "--format = ''", "--format ="])(
    "offers the formats and nothing else after %s",
    async (words) => {
      const count = words.split(" ").length + 1;
      const line =
        `eval "$(cli completion bash)"; COMP_WORDS=(pi-workflows graph ${words}); ` +
        `COMP_CWORD=${count}; _pi_workflows; echo "\${COMPREPLY[*]}"`;
      const { stdout } = await runShell({ paths }, line);
      expect(stdout.trim()).toBe("text ascii mermaid dot svg");
    },
  );
});
