/** What becomes of a headless run's request when its own Pi ends or cannot be had. */
import type { HostContext } from "../context.ts";
import { turnLifecycle } from "../lifecycle/turn.ts";
import type { TurnRecord } from "../records-sessions.ts";
import { system } from "../store/doors.ts";
import type { Tx } from "../store/tx.ts";
import { isGivenUp } from "./message-rows.ts";
import { settleFailed, settleIfDue } from "./settle.ts";
import type { Step } from "./step.ts";
import { askAgain } from "./turn-effects.ts";
import { endTurn } from "./turns.ts";

/** The name of the error, by which an author may route. */
export const PI_UNAVAILABLE = "pi_unavailable";

/** The session of a headless run's own Pi, as `sessionOf` names it. */
export function headlessSession(runId: string): string {
  return `${SESSION_PREFIX}${runId}`;
}

/** The run whose session this would be; absent for the id of another session. */
export function runOfHeadlessSession(sessionId: string): string | undefined {
  return sessionId.startsWith(SESSION_PREFIX) ? sessionId.slice(SESSION_PREFIX.length) : undefined;
}

const SESSION_PREFIX = "wf-";

/**
 * The run's Pi is gone and with it every turn of it. With `counted` it ended by
 * itself, and after a few times in a row the run is blocked; without, the host
 * ended it or died with it, which is no fault of the run.
 */
export function loseTurns(
  host: HostContext,
  { runId, counted }: { readonly runId: string; readonly counted: boolean },
): Promise<number> {
  return system(host, "headless_turns_lost", (tx) => {
    const turns = tx.turns.openOfRun(runId);
    const at = host.clock.now();
    for (const turn of turns) {
      const { sessionId, messageId } = turn;
      const ending = { sessionId, messageId, outcome: "lost", replyText: "", replyWhole: false };
      if (counted) endTurn({ tx, at }, { ...ending, outcome: "lost" });
      else loseUncounted({ tx, at }, turn);
    }
    return turns.length;
  });
}

/** No Pi can be had for the step: the attempt fails, if it still waits. */
export function failForWantOfPi(
  host: HostContext,
  asked: { readonly runId: string; readonly interactionId: string; readonly message: string },
): Promise<boolean> {
  return system(host, "headless_unavailable", (tx) => {
    const { runId, interactionId, message } = asked;
    const run = tx.runs.get(runId);
    const interaction = tx.interactions.open(runId);
    if (run?.status !== "waiting" || interaction?.status !== "pending") return false;
    if (interaction.interactionId !== interactionId) return false;
    const step: Step = { tx, run, at: host.clock.now() };
    if (settleIfDue(step)) return true;
    settleFailed(step, interaction, { name: PI_UNAVAILABLE, message });
    return true;
  });
}

function loseUncounted({ tx, at }: { readonly tx: Tx; readonly at: number }, turn: TurnRecord) {
  const { messageId, runId, interactionId = "" } = turn;
  const status = turnLifecycle.next(turn.status, "lose");
  tx.put.turnChange(messageId, { status, closedAt: at });
  const run = tx.runs.get(runId);
  const interaction = tx.interactions.get(interactionId);
  if (run?.status !== "waiting" || interaction?.status !== "pending") return;
  const step: Step = { tx, run, at };
  if (settleIfDue(step)) return;
  const newest = tx.messages.newestOfInteraction(interactionId);
  // A newer message asks already, or this one has not been given up yet.
  const asksAlready = newest !== undefined && newest.messageId !== messageId && !isGivenUp(newest);
  if (!asksAlready) askAgain(step, interaction, "resumed");
}
