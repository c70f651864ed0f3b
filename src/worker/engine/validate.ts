import { TimeoutError } from "../../workflow/errors.ts";
import type { NodeOutcome } from "../nodes/executor.ts";
import { VALIDATION_MS } from "../validation/limits.ts";
import { validateSubmission } from "../validation/submission.ts";
import { definitionOf } from "./attempt.ts";
import type { Engine, Position } from "./attempt.ts";

/**
 * Decides on a submission for the attempt that waits. Nothing has been done
 * outside, so a stop ends it at once and the host hands the value out again or
 * not, as it likes.
 */
export async function validateAttempt(
  engine: Engine,
  at: Position,
  submissionJson: string,
): Promise<NodeOutcome> {
  if (engine.stop.aborted) return { kind: "stopped" };
  const overdue = new AbortController();
  const late = new TimeoutError(at.node, VALIDATION_MS);
  const timer = engine.clock.after(VALIDATION_MS, () => overdue.abort(late));
  const signal = AbortSignal.any([engine.stop, overdue.signal]);
  const context = engine.state.context({ visit: at.visit, attempt: at.attempt }, signal);
  const node = definitionOf(engine, at.node);
  try {
    const decided = await Promise.race([
      validateSubmission({ node, path: at.node, context }, submissionJson),
      whenAborted(signal),
    ]);
    // What the author's code made of the stop is no verdict on the value.
    return engine.stop.aborted ? { kind: "stopped" } : decided;
  } finally {
    timer.cancel();
  }
}

function whenAborted(signal: AbortSignal): Promise<NodeOutcome> {
  return new Promise((resolve) => {
    const settle = (): void => {
      const reason: unknown = signal.reason;
      if (!(reason instanceof TimeoutError)) resolve({ kind: "stopped" });
      else
        resolve({
          kind: "rejected",
          message: `the result was not validated within ${reason.timeoutMs / 1_000} seconds`,
        });
    };
    if (signal.aborted) settle();
    else signal.addEventListener("abort", settle, { once: true });
  });
}
