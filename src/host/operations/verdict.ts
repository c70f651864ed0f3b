import { runLifecycle } from "../lifecycle/run.ts";
import type { FailureRecord } from "../records.ts";
import { closeAttempt, countedAttempts, requireRunning } from "./attempt-rows.ts";
import { applyingEffect, isManual, loseEffect } from "./effect-rows.ts";
import { mayRetry, runGraph } from "./graph.ts";
import { blockOnEffect } from "./interruption.ts";
import { changeRun, releaseClaim } from "./step.ts";
import type { Step } from "./step.ts";
import { rejectSubmission, validatedAttempt } from "./submission-rows.ts";

/** How the host says that an attempt ended. */
export interface Decision {
  readonly attemptId: string;
  readonly outcome: "failed" | "timed_out";
  readonly error: FailureRecord;
}

export interface VerdictRecord {
  /** `rejected`: the attempt waits still, and what was submitted for it is not its result. */
  readonly outcome: "routed" | "paused" | "blocked" | "rejected";
}

/** Ends the running attempt from outside; the run then only routes, unless an effect holds it. */
export function decide(step: Step, { attemptId, outcome, error }: Decision): VerdictRecord {
  const { run, at } = step;
  const validated = validatedAttempt(step, attemptId);
  if (validated !== undefined) {
    const said = `${error.name}: ${error.message}`;
    const told = `its validation ended without a verdict (${said}); submit the result again`;
    rejectSubmission(step, validated.submission, { reason: "validation_failed", error: told });
    return { outcome: "rejected" };
  }
  const attempt = requireRunning(step, attemptId);
  const held = loseDecided(step, error.message);
  if (held !== undefined) {
    blockOnEffect(step, held, error.message);
    return { outcome: "blocked" };
  }
  closeAttempt(step, attempt, { event: outcome === "failed" ? "fail" : "time_out", error });
  releaseClaim(step);
  const to = run.pauseRequested ? "paused" : "queued";
  changeRun(step, {
    event: "verdict",
    change: {
      status: runLifecycle.next(run.status, "verdict", to),
      pauseRequested: false,
      boundary: run.boundary + 1,
      routing: true,
      activation: "verdict",
      availableAt: at,
    },
    data: { attemptId, outcome },
  });
  return { outcome: to === "paused" ? "paused" : "routed" };
}

/** An idempotent effect is tried again only if the node has a try left after this one. */
function loseDecided(step: Step, cause: string): string | undefined {
  const { tx, run } = step;
  const effect = applyingEffect(step);
  if (effect === undefined) return undefined;
  const graph = runGraph(tx, run);
  const again = mayRetry(graph, run.node, countedAttempts(tx, run) + 1);
  loseEffect(step, effect, { again, detail: cause });
  return isManual(effect) ? effect.effectId : undefined;
}
