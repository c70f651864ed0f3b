/** What becomes of a headless run's request when its own Pi ends or cannot be had. */
import type { HostContext } from "../context.ts";
import { turnLifecycle } from "../lifecycle/turn.ts";
import type { TurnRecord } from "../records-sessions.ts";
import { system } from "../store/doors.ts";
import { isGivenUp } from "./message-rows.ts";
import type { Moment } from "./message-rows.ts";
import { settleFailed, settleIfDue } from "./settle.ts";
import type { Step } from "./step.ts";
import { askAgain } from "./turn-effects.ts";
import { endTurn } from "./turns.ts";

/** The name of the error, by which an author may route. */
export const PI_UNAVAILABLE = "pi_unavailable";

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
    const moment = { tx, at: host.clock.now() };
    for (const turn of turns) {
      const { sessionId, messageId } = turn;
      if (!counted) loseUncounted(moment, turn);
      else
        endTurn(moment, {
          sessionId,
          messageId,
          outcome: "lost",
          replyText: "",
          replyWhole: false,
        });
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

function loseUncounted({ tx, at }: Moment, turn: TurnRecord): void {
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
