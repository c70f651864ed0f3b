import { HostError } from "../errors.ts";
import { SESSION_ROWS_MAX } from "../limits.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { RunRecord } from "../records.ts";
import { command } from "../store/doors.ts";
import type { CommandResult } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { AskedCommand } from "./canonical.ts";
import { askInSession, closeRequest } from "./session-messages.ts";
import { changeRun } from "./step.ts";
import type { Step } from "./step.ts";

export interface Adoption {
  readonly runId: string;
  /** A session that is attached. */
  readonly sessionId: string;
}

const MOVED = "the run's steps moved to another session";

/**
 * The session shows the run's steps from now on. What was on its way to the old
 * one is taken back and asked again here; a turn that works on it there is asked
 * to stop, and its end counts for nothing.
 */
export function adoptRun(
  host: HostContext,
  asked: AskedCommand,
  { runId, sessionId }: Adoption,
): Promise<CommandResult> {
  return command(host, { ...asked, runId }, (tx, run) => {
    if (run === undefined) throw new HostError("RUN_NOT_FOUND", `there is no run ${runId}`);
    requireMovable(run);
    if (run.originSession !== sessionId) move({ tx, run, at: host.clock.now() }, sessionId);
    return {};
  });
}

function move(step: Step, sessionId: string): void {
  const { tx, run } = step;
  const interaction = tx.interactions.open(run.runId);
  if (interaction !== undefined) closeRequest(step, interaction, MOVED);
  takeNewsAlong(step, sessionId);
  leave(step);
  const moved = changeRun(step, {
    event: "adopt",
    change: { originSession: sessionId },
    data: { from: run.originSession ?? "", to: sessionId },
  });
  // Of a submission that is being validated the verdict decides what is asked, and there.
  const isAsking = run.status === "waiting" && interaction?.status === "pending";
  if (isAsking) askInSession(moved, interaction, { reason: "resumed" });
}

/** News that nobody has been handed yet goes where the steps go. */
function takeNewsAlong({ tx, run }: Step, sessionId: string): void {
  const open = tx.messages.openOfSession(run.originSession ?? "", SESSION_ROWS_MAX);
  for (const { messageId, runId, kind, status } of open) {
    if (runId !== run.runId || kind !== "notification" || status !== "pending") continue;
    tx.put.messageChange(messageId, { sessionId });
  }
}

/** Whoever shows the old session hears that the run is gone from it. */
function leave({ tx, run, at }: Step): void {
  const { originSession } = run;
  if (originSession !== undefined) tx.put.sessionChange(originSession, { updatedAt: at });
}

function requireMovable({ runId, status, mode }: RunRecord): void {
  if (runLifecycle.isFinal(status)) {
    const message = `run ${runId} is ${status} and has no further steps to show`;
    throw new HostError("ILLEGAL_TRANSITION", message, { runId, state: status });
  }
  if (mode === "session") return;
  const message = `run ${runId} is headless: the host starts a Pi of its own for its steps`;
  throw new HostError("ILLEGAL_TRANSITION", message, { runId, state: status });
}
