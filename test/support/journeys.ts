/** Ways through a run, each the same whoever dies on it, and what must be at their ends. */
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { toValue } from "../../src/cli/values.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { Resolution } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import type { Ending, Voyage } from "./voyage.ts";

export interface Journey {
  /** Goes the way and returns the run that it is about. */
  go(voyage: Voyage, marks: readonly string[]): Promise<string>;
  readonly ending: Ending;
  /** Applications outside by effect, without anybody dying. */
  readonly effects: Readonly<Record<string, number>>;
}

const WORKFLOWS = join(import.meta.dirname, "../fixtures/workflows");
/** Terminal runs of any age. */
const ANY_AGE = { seconds: 0n, nanos: 0 };

const WAITING = RunStatus.WAITING;
const TRAVELLED: Ending = {
  status: RunStatus.COMPLETED,
  result: { plan: { planned: 1 }, write: { written: true }, stamp: "stamped", answer: "yes" },
  done: ["plan", "write", "stamp", "ask", "rest", "done"],
};
const BOTH_EFFECTS = { "line:write:1": 1, "stamp:stamp:1": 1 };
const AT_THE_QUESTION = { result: null, done: ["plan", "write", "stamp"] };

export const JOURNEYS = {
  /** Through every kind of node to the end. */
  travels: {
    async go(voyage) {
      const runId = await startRun(voyage, "start", "travels");
      return await answerAndFinish(voyage, runId);
    },
    ending: TRAVELLED,
    effects: BOTH_EFFECTS,
  },
  /** The action stays busy until all points were reached. */
  lingers: {
    async go(voyage, marks) {
      const runId = await startRun(voyage, "start", "travels", { lingersFor: [...marks] });
      return await answerAndFinish(voyage, runId);
    },
    ending: TRAVELLED,
    effects: BOTH_EFFECTS,
  },
  /** The host dies while the first node executes, and the next one recovers. */
  losesHost: {
    async go(voyage) {
      const gate = join(voyage.project, "gate");
      const runId = await startRun(voyage, "start", "travels", { holdsFor: gate });
      await voyage.untilStatus(runId, RunStatus.RUNNING);
      await voyage.leave("kill");
      await voyage.host();
      writeFileSync(gate, "");
      return await answerAndFinish(voyage, runId);
    },
    ending: TRAVELLED,
    effects: BOTH_EFFECTS,
  },
  losesWorker: {
    async go(voyage) {
      const runId = await startRun(voyage, "start", "travels", { dies: true });
      return await answerAndFinish(voyage, runId);
    },
    ending: TRAVELLED,
    effects: BOTH_EFFECTS,
  },
  /** Orderly stops while the run waits. */
  stopsHost: {
    async go(voyage) {
      const runId = await startRun(voyage, "start", "travels");
      for (const _ of ["once", "twice"]) {
        await voyage.untilStatus(runId, WAITING);
        await voyage.leave("stop");
      }
      return await answerAndFinish(voyage, runId);
    },
    ending: TRAVELLED,
    effects: BOTH_EFFECTS,
  },
  pauses: {
    async go(voyage) {
      const runId = await startRun(voyage, "start", "travels");
      await voyage.untilStatus(runId, WAITING);
      await voyage.command("pause", ({ runs }, command) => runs.pauseRun({ command, runId }));
      await voyage.command("resume", ({ runs }, command) => runs.resumeRun({ command, runId }));
      return await answerAndFinish(voyage, runId);
    },
    ending: TRAVELLED,
    effects: BOTH_EFFECTS,
  },
  /** Cancelled while it waits; its successor from the same input too. */
  cancels: {
    async go(voyage) {
      const first = await startRun(voyage, "start", "travels");
      await cancel(voyage, "cancel", first);
      const { runId } = await voyage.command("restart", ({ runs }, command) =>
        runs.restartRun({ command, runId: first }),
      );
      return await cancel(voyage, "cancel again", runId);
    },
    ending: { ...AT_THE_QUESTION, status: RunStatus.CANCELLED },
    effects: BOTH_EFFECTS,
  },
  /** Author code exits; the host decides the attempt, and the graph routes it. */
  exits: {
    async go(voyage) {
      const runId = await startRun(voyage, "start", "exits", { how: "exit" });
      await voyage.untilStatus(runId, RunStatus.COMPLETED);
      return runId;
    },
    ending: {
      status: RunStatus.COMPLETED,
      result: { outcome: "failed", error: "ProcessExit" },
      done: ["after"],
    },
    effects: {},
  },
  /** A manual effect whose worker died: a person looks, and says that it happened. */
  charges: {
    async go(voyage) {
      const runId = await startRun(voyage, "start", "charges");
      await voyage.untilStatus(runId, RunStatus.BLOCKED);
      const { effects } = await voyage.ask((host) => host.effects.listEffects({ runId }));
      const effectId = effects[0]?.effectId ?? "";
      await voyage.command("resolve", (host, command) =>
        host.effects.resolveEffect({
          command,
          effectId,
          resolution: Resolution.APPLIED,
          output: toValue("output", { paid: true }),
        }),
      );
      await voyage.untilStatus(runId, RunStatus.COMPLETED);
      return runId;
    },
    ending: {
      status: RunStatus.COMPLETED,
      result: { charge: { paid: true } },
      done: ["charge", "done"],
    },
    effects: { "charge:charge:1": 1 },
  },
  /** The file is edited while the run waits, and put back. */
  edited: {
    async go(voyage) {
      const file = join(voyage.project, "travels.workflow.mjs");
      copyFileSync(join(WORKFLOWS, "travels.workflow.mjs"), file);
      const text = readFileSync(file, "utf8");
      const runId = await startRun(voyage, "start", file);
      await voyage.untilStatus(runId, WAITING);
      appendFileSync(file, "// edited\n");
      await answer(voyage, runId);
      await voyage.untilStatus(runId, RunStatus.BLOCKED);
      writeFileSync(file, text);
      await voyage.command("resume", ({ runs }, command) => runs.resumeRun({ command, runId }));
      await voyage.untilStatus(runId, RunStatus.COMPLETED);
      return runId;
    },
    ending: TRAVELLED,
    effects: BOTH_EFFECTS,
  },
  /** Nothing needs mending, and another run is deleted. */
  housekeeping: {
    async go(voyage) {
      const old = await startRun(voyage, "start old", "exits", { how: "exit" });
      await voyage.untilStatus(old, RunStatus.COMPLETED);
      const runId = await startRun(voyage, "start", "travels");
      await voyage.untilStatus(runId, WAITING);
      await voyage.ask(({ host }) => host.repair({ command: commandOf("repair") }));
      await voyage.ask(({ host }) =>
        host.prune({ command: commandOf("prune"), olderThan: ANY_AGE }),
      );
      const { runs } = await voyage.ask((host) => host.runs.listRuns({}));
      if (runs.length !== 1) throw new Error(`${runs.length} runs are left`);
      return await answerAndFinish(voyage, runId);
    },
    ending: TRAVELLED,
    effects: BOTH_EFFECTS,
  },
} as const satisfies Readonly<Record<string, Journey>>;

export type JourneyName = keyof typeof JOURNEYS;

export function workflowFile(name: string): string {
  return name.startsWith("/") ? name : join(WORKFLOWS, `${name}.workflow.mjs`);
}

export async function startRun(
  voyage: Voyage,
  key: string,
  workflow: string,
  input: Readonly<Record<string, JsonValue>> = {},
): Promise<string> {
  const request = {
    workflow: workflowFile(workflow),
    projectDir: voyage.project,
    input: toValue("input", { folder: voyage.project, ...input }),
  };
  const { runId } = await voyage.command(key, ({ runs }, command) =>
    runs.startRun({ ...request, command }),
  );
  return runId;
}

export async function answer(voyage: Voyage, runId: string, key = "answer"): Promise<void> {
  const { interaction } = await voyage.untilStatus(runId, WAITING);
  const interactionId = interaction?.interactionId ?? "";
  await voyage.command(key, ({ interactions }, command) =>
    interactions.answerCheckpoint({
      command,
      interactionId,
      answer: toValue("answer", "yes"),
    }),
  );
}

async function answerAndFinish(voyage: Voyage, runId: string): Promise<string> {
  await answer(voyage, runId);
  await voyage.untilStatus(runId, RunStatus.COMPLETED);
  return runId;
}

async function cancel(voyage: Voyage, key: string, runId: string): Promise<string> {
  await voyage.untilStatus(runId, WAITING);
  await voyage.command(key, ({ runs }, command) => runs.cancelRun({ command, runId }));
  return runId;
}

function commandOf(key: string): { readonly requestId: string; readonly client: string } {
  return { requestId: key, client: "test" };
}
