import { HostError } from "../errors.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { ActivationKind, SourceWithContent } from "../records.ts";
import { countedAttempts, openAttempt } from "./attempt-rows.ts";
import { changeRun, storeSources } from "./step.ts";
import type { Step } from "./step.ts";

/** What a worker begins with. */
export interface BeginRecord {
  readonly kind: ActivationKind;
  readonly attemptId: string;
  readonly attempt: number;
  readonly node: string;
  readonly visit: number;
  readonly boundary: number;
  readonly countedAttempts: number;
}

export interface Attachment {
  /** Deadline of the attempt to begin. */
  readonly timeoutMs?: number;
  readonly newSources: readonly SourceWithContent[];
}

/**
 * The worker has everything loaded: the run is running, and the attempt of its
 * position is open unless the activation only routes.
 */
export function attach(step: Step, { timeoutMs, newSources }: Attachment): BeginRecord {
  const { tx, run } = step;
  const status = runLifecycle.next(run.status, "attach");
  storeSources(step, newSources);
  const newest = tx.attempts.newest(run.runId);
  const attempt = run.routing
    ? newest
    : (tx.attempts.open(run.runId) ??
      openAttempt(step, { node: run.node, visit: run.visit, timeoutMs }, newest));
  if (attempt === undefined) throw new HostError("ILLEGAL_TRANSITION", "nothing to route on");
  const boundary = run.boundary + 1;
  changeRun(step, {
    event: "attach",
    change: { status, boundary },
    data: { attemptId: attempt.attemptId, activation: run.activation },
  });
  return {
    kind: run.activation,
    attemptId: attempt.attemptId,
    attempt: attempt.attempt,
    node: run.node,
    visit: run.visit,
    boundary,
    countedAttempts: countedAttempts(tx, run),
  };
}
