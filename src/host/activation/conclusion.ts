import { ClaimLostError, HostError } from "../errors.ts";
import { OUTPUT_TAIL_BYTES } from "../limits.ts";
import { interruptRun, recordWorkerExit } from "../operations/claims.ts";
import { blockRun, verdict } from "../operations/attempts.ts";
import type { WorkerExit } from "../supervisor/supervised-worker.ts";
import type { Conversation } from "./conversation.ts";
import { decideEnd } from "./end-of-worker.ts";
import type { EndDecision, EndFacts } from "./end-of-worker.ts";
import type { CommandProcess, Standing } from "./standing.ts";
import type { ActivationTools } from "./tools.ts";
import { isStorageTrouble, writeUntil } from "./writes.ts";

interface Ending {
  readonly exit: WorkerExit;
  readonly conversation: Conversation;
}

/**
 * The worker's process is gone: settles what it proposed, decides what becomes of
 * the run, ends what the worker left running, and stores how it ended. Only then
 * may the run be launched again.
 */
export async function concludeActivation(
  tools: ActivationTools,
  standing: Standing,
  { exit, conversation }: Ending,
): Promise<void> {
  const { runId, generation } = standing.proof;
  const { id: workerId, pid, startTime } = standing.worker;
  const { code, signal } = exit;
  const reason = exitReason(standing, exit);
  const { host, supervisor, givenUp } = tools;
  // Read before the run's rows change: what was applied by a command is asked for by that command.
  const groups = commandGroups(tools, standing);
  const tree = supervisor.endTree({ workerId, pid, startTime, groups });
  await conversation.close();
  const settled = settle(tools, standing, exit).catch((error: unknown) => {
    // Given up as the host stops, or a fault of ours: the claim runs out, and others decide.
    host.log.error("activation.unsettled", { runId, generation, error });
  });
  await tree;
  try {
    // Begun after the decision was, so that both share a commit and are stored in this order.
    const end = { workerId, code, signal, reason };
    await writeUntil(host.clock, givenUp, () => recordWorkerExit(host, end));
  } catch (error) {
    host.log.error("worker.exit_unrecorded", { runId, generation, workerId, error });
  }
  await settled;
  host.log.info("worker.ended", { runId, generation, workerId, reason });
}

async function settle(tools: ActivationTools, standing: Standing, exit: WorkerExit): Promise<void> {
  const decision = decideEnd(factsOf(standing, exit));
  const { clock } = tools.host;
  try {
    await writeUntil(clock, tools.givenUp, () => carryOut(tools, standing, decision));
  } catch (error) {
    if (!isRuleBroken(error) || decision.kind === "interrupt") throw error;
    // The attempt was closed before, or the claim is gone: then the rows decide.
    const lost = { counted: true, reason: exit.reason };
    await writeUntil(clock, tools.givenUp, () => interrupt(tools, standing, lost));
  }
}

function factsOf({ attempt, failure, ...standing }: Standing, exit: WorkerExit): EndFacts {
  const { released, faultReason, hostReason } = standing;
  const facts = { released, attached: attempt !== undefined, exit, faultReason, hostReason };
  if (failure === undefined) return facts;
  // Said of an attempt whose end was on its way: the one that is open since has not failed.
  if (failure.attemptId === attempt?.attemptId) return { ...facts, failure: failure.error };
  return { ...facts, faultReason: faultReason ?? failure.error.message };
}

/** Why the process ended, before how. */
function exitReason({ failure, faultReason, hostReason }: Standing, exit: WorkerExit): string {
  const why = faultReason ?? hostReason ?? failure?.error.message;
  return why === undefined ? exit.reason : `${why}; ${exit.reason}`;
}

async function carryOut(
  tools: ActivationTools,
  standing: Standing,
  decision: EndDecision,
): Promise<void> {
  const { proof, attempt } = standing;
  switch (decision.kind) {
    case "nothing":
      return;
    case "verdict": {
      const attemptId = attempt?.attemptId ?? "";
      await verdict(tools.host, { proof, attemptId, outcome: "failed", error: decision.error });
      return;
    }
    case "block":
      await blockRun(tools.host, { proof, reason: "no_progress", detail: decision.detail });
      return;
    case "interrupt":
      await interrupt(tools, standing, decision);
  }
}

async function interrupt(
  tools: ActivationTools,
  { proof, worker }: Standing,
  { counted, reason }: { readonly counted: boolean; readonly reason: string },
): Promise<void> {
  const { runId, generation } = proof;
  const outputTail = worker.outputTail(OUTPUT_TAIL_BYTES);
  await interruptRun(tools.host, { runId, generation, reason, counted, outputTail });
}

function isRuleBroken(error: unknown): boolean {
  if (error instanceof ClaimLostError) return true;
  return error instanceof HostError && !isStorageTrouble(error);
}

function commandGroups(tools: ActivationTools, standing: Standing): readonly CommandProcess[] {
  const stored = tools.host.store.reader.effects.liveProcesses(standing.run.runId);
  const bootId = tools.probe.bootId();
  const groups = new Map(standing.commands.map((command) => [command.pid, command]));
  for (const { pid, startTime, bootId: boot } of stored) {
    if (pid !== undefined && startTime !== undefined && boot === bootId) {
      groups.set(pid, { pid, startTime });
    }
  }
  return [...groups.values()];
}
