import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Code } from "@connectrpc/connect";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import {
  InteractionKind,
  InteractionStatus,
} from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { Outcome } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { runCli, runOnTerminal, runShell } from "../support/cli-process.ts";
import { refusal, startFakeHost, stateFolder } from "../support/fake-host.ts";
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

describe("the end of an id", () => {
  const RUN_END = RUN.slice(-5);
  const interaction = { interactionId: "int_01jd0000000000000000000009", summary: "Go on?" };
  const unknown = (reason: Reason, message: string) =>
    refusal(Code.NotFound, { reason, message: `there is no ${message}` });

  test("means the interaction, else the run that waits", async () => {
    await fakeHost({
      runs: {
        getRun: ({ runId }) => {
          if (runId !== RUN_END) throw unknown(Reason.RUN_NOT_FOUND, "run");
          return { run: { summary: { ...summary(), ...interaction } } };
        },
      },
      interactions: {
        getInteraction: ({ interactionId }) => {
          if (!interaction.interactionId.endsWith(interactionId))
            throw unknown(Reason.INTERACTION_NOT_FOUND, "interaction");
          return { interaction };
        },
        answerCheckpoint: () => ({ receipt: { outcome: Outcome.COMMITTED } }),
      },
    });
    for (const id of ["00009", RUN_END]) {
      const { code, stdout } = await runCli({ paths }, "answer", id, "true");
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: `answered ${interaction.interactionId}: Go on?\n`,
      });
    }
    const lost = await runCli({ paths }, "answer", "zzzzz", "true");
    expect(lost.code).toBe(4);
    expect(lost.stderr).toContain("neither a question nor a run zzzzz");
  });
});

describe("what waits", () => {
  test("is listed with its kind", async () => {
    const one = (last: number, kind: InteractionKind) => ({
      interactionId: `int_${last}`,
      kind,
      status: InteractionStatus.PENDING,
      summary: "s",
    });
    const { AGENT, CHECKPOINT, HUMAN_DECISION, REPLY } = InteractionKind;
    const interactions = [AGENT, CHECKPOINT, HUMAN_DECISION, REPLY].map((kind) => one(kind, kind));
    await fakeHost({ interactions: { listInteractions: () => ({ interactions }) } });
    const { stdout, stderr } = await runCli({ paths }, "interactions");
    expect(stdout).toMatch(/^INTERACTION +KIND +STATUS/);
    for (const [kind, name] of [
      [AGENT, "model step"],
      [CHECKPOINT, "question"],
      [HUMAN_DECISION, "decision"],
      [REPLY, "model reply"],
    ] as const)
      expect(stdout).toMatch(new RegExp(`^int_${kind} +${name} +pending`, "m"));
    expect(stderr).toContain("with the command that answers it: pi-workflows interactions");
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
