import { crashPoint } from "../../platform/crash-points.ts";
import { describeError } from "../../workflow/describe-error.ts";
import type { NodeOutcome } from "../nodes/executor.ts";
import { executeAttempt } from "./attempt.ts";
import type { Engine, Position, Timeout } from "./attempt.ts";
import { closeAttempt, routeClosed } from "./close-attempt.ts";
import type { Closing } from "./close-attempt.ts";
import { ProposalRefused } from "./run-link.ts";
import type { Ack } from "./run-link.ts";
import { validateAttempt } from "./validate.ts";

/** Where an activation begins. */
export interface Activation {
  readonly at: Position;
  /** True when the newest attempt is closed already and only its edge is to be taken. */
  readonly routeOnly: boolean;
  /** The submitted value as JSON text, when the waiting attempt has one to be validated. */
  readonly submissionJson?: string;
  readonly timeout: Timeout;
}

/**
 * Executes the run from its boundary until it is parked, stopped or ended. One
 * proposal is in flight at a time; the next node starts after its answer.
 */
export async function drive(engine: Engine, activation: Activation): Promise<void> {
  let { at, timeout } = activation;
  let end = await open(engine, activation);
  while (end !== "stopped") {
    // The answer comes in a later turn of the loop: timers, heartbeats and a stop have theirs before.
    const answered = await proposeOrFail(engine, at, end);
    if (answered === undefined || answered.ack.parked) return;
    ({ at, timeout } = follow(answered));
    if (!(await pause(engine, answered.closing.next?.delayMs ?? 0))) return;
    end = await executeAndClose(engine, at, timeout);
  }
}

async function open(engine: Engine, activation: Activation): Promise<Closing> {
  const { at, timeout, routeOnly, submissionJson } = activation;
  if (routeOnly) return routeClosed(engine, at);
  if (submissionJson === undefined) return await executeAndClose(engine, at, timeout);
  return await close(engine, at, () => validateAttempt(engine, at, submissionJson));
}

async function executeAndClose(engine: Engine, at: Position, timeout: Timeout): Promise<Closing> {
  return await close(engine, at, () => executeAttempt(engine, at, timeout));
}

async function close(
  engine: Engine,
  at: Position,
  decide: () => Promise<NodeOutcome>,
): Promise<Closing> {
  const startedAtMs = engine.clock.now();
  const outcome = await decide();
  // A file that changed under the run is no failure of the node: the run is blocked for it.
  if (outcome.kind === "failed" && outcome.error.name === SOURCE_CHANGED)
    throw new SourceChangedInRun(outcome.error.message);
  crashPoint("proposal.before", at.node);
  return closeAttempt(engine, at, outcome, startedAtMs);
}

type Proposal = Exclude<Closing, "stopped">;

/** Name of the error that the loader throws in place of evaluating a changed file. */
const SOURCE_CHANGED = "SourceChangedError";

/** A node came to load a file that is not the one the run recorded. */
export class SourceChangedInRun extends Error {
  override readonly name = "SourceChangedInRun";
}

interface Answered {
  readonly closing: Proposal;
  readonly ack: Ack;
}

/** A refused proposal fails the attempt with the refusal; a second refusal ends the activation. */
async function proposeOrFail(
  engine: Engine,
  at: Position,
  closing: Proposal,
): Promise<Answered | undefined> {
  try {
    return { closing, ack: await closing.propose() };
  } catch (thrown) {
    // Nothing is done to an attempt for a value that was submitted to it.
    if (!(thrown instanceof ProposalRefused) || closing.rejects === true) throw thrown;
    const failed: NodeOutcome = {
      kind: "failed",
      error: describeError(thrown),
      retryable: false,
    };
    const second = closeAttempt(engine, at, failed, engine.clock.now());
    return second === "stopped" ? undefined : { closing: second, ack: await second.propose() };
  }
}

function follow({ closing, ack }: Answered): { readonly at: Position; readonly timeout: Timeout } {
  const { next } = closing;
  if (next === undefined) throw new Error("the host went on where the run was to park");
  const { attemptId, attempt, visit, boundary } = ack;
  return { at: { ...next.at, attemptId, attempt, visit, boundary }, timeout: next.timeout };
}

/** Waits out a short back-off; false when the run was stopped meanwhile. */
async function pause(engine: Engine, delayMs: number): Promise<boolean> {
  if (delayMs === 0) return !engine.stop.aborted;
  return await new Promise((resolve) => {
    const timer = engine.clock.after(delayMs, () => resolve(true));
    const stopped = (): void => {
      timer.cancel();
      resolve(false);
    };
    if (engine.stop.aborted) stopped();
    else engine.stop.addEventListener("abort", stopped, { once: true });
  });
}
