import type { ErrorDescription } from "../../workflow/describe-error.ts";
import type { JsonValue } from "../../workflow/json.ts";
import type { EffectOutcome, NodeOutcome } from "../nodes/executor.ts";
import { evaluateTimeout, hostLimit } from "./attempt.ts";
import type { Engine, Position, Timeout } from "./attempt.ts";
import { nextStep } from "./next-step.ts";
import type { NextStep } from "./next-step.ts";
import type { Ack, AttemptEnd, Follow } from "./run-link.ts";

/** A back-off up to this is waited out here; a longer one parks the run (state.md). */
const WORKER_BACKOFF_MS_MAX = 5_000;

/** What is proposed for the end of an attempt, and where the run is once that is committed. */
export type Closing =
  | "stopped"
  | {
      readonly propose: () => Promise<Ack>;
      readonly next?: Next;
      /** A submission is refused; the attempt goes on waiting. */
      readonly rejects?: true;
    };

interface Next {
  readonly at: Position;
  readonly timeout: Timeout;
  readonly delayMs: number;
}

/** Turns the outcome of an executor into one proposal. */
export function closeAttempt(
  engine: Engine,
  at: Position,
  outcome: NodeOutcome,
  startedAtMs: number,
): Closing {
  switch (outcome.kind) {
    case "stopped":
      return "stopped";
    case "interaction":
      return askFor(engine, at, outcome);
    case "rejected":
      return { propose: () => engine.link.reject(at, outcome.message), rejects: true };
    case "wait":
      return { propose: () => engine.link.openTimer(at, outcome.dueAtMs, undefined) };
    case "unknown": {
      const { error, effect } = outcome;
      const unknown: AttemptEnd = { kind: "unknown", error, effect };
      return { propose: () => engine.link.advance(at, unknown, undefined) };
    }
    case "ok":
    case "failed":
    case "timed_out":
      return finish(engine, at, { outcome, startedAtMs });
  }
}

/** The same for an attempt that was closed outside this worker: only the way on is proposed. */
export function routeClosed(engine: Engine, at: Position): Closing {
  const result = engine.state.resultOf(at.node);
  if (result === undefined || result.outcome === "cancelled")
    throw new Error(`node ${at.node} has no result to route`);
  const step = nextStep(engine.graph, {
    node: at.node,
    outcome: result.outcome,
    // Results hold what was parsed from JSON.
    ...(result.output === undefined ? {} : { output: result.output as JsonValue }),
    ...(result.error === undefined ? {} : { error: result.error }),
    retryable: result.error?.name !== "NonRetryableError",
    failures: at.failures,
    steps: at.steps,
  });
  return proposal(engine, at, {
    step,
    end: undefined,
    outputJson: JSON.stringify(result.output),
    failures: at.failures,
  });
}

type Finished = Extract<NodeOutcome, { kind: "ok" | "failed" | "timed_out" }>;

function finish(
  engine: Engine,
  at: Position,
  { outcome, startedAtMs }: { readonly outcome: Finished; readonly startedAtMs: number },
): Closing {
  const outputJson = outcome.kind === "ok" ? outcome.outputJson : undefined;
  const error = outcome.kind === "ok" ? undefined : outcome.error;
  engine.state.record(at.node, {
    outcome: outcome.kind,
    ...(outputJson === undefined ? {} : { outputJson }),
    ...(error === undefined ? {} : { error }),
    visit: at.visit,
    attempt: at.attempt,
    startedAtMs,
    finishedAtMs: engine.clock.now(),
  });
  // Results hold what was parsed from JSON.
  const output = engine.state.resultOf(at.node)?.output as JsonValue | undefined;
  const failures = at.failures + (outcome.kind === "ok" ? 0 : 1);
  const step = nextStep(engine.graph, {
    node: at.node,
    outcome: outcome.kind,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    retryable: outcome.kind === "failed" ? outcome.retryable : true,
    failures,
    steps: at.steps,
  });
  return proposal(engine, at, { step, end: endOf(outcome), outputJson, failures });
}

function endOf(outcome: Finished): AttemptEnd {
  const effect: { effect?: EffectOutcome } =
    outcome.effect === undefined ? {} : { effect: outcome.effect };
  if (outcome.kind === "ok") {
    const { outputJson, notification } = outcome;
    const told = notification === undefined ? {} : { notification };
    return { kind: "ok", outputJson, ...effect, ...told };
  }
  return { kind: outcome.kind, error: outcome.error, ...effect };
}

interface Decided {
  readonly step: NextStep;
  readonly end: AttemptEnd | undefined;
  readonly outputJson: string | undefined;
  /** Failed and timed-out attempts of the visit so far. */
  readonly failures: number;
}

function proposal(engine: Engine, at: Position, decided: Decided): Closing {
  const { link } = engine;
  const { step, end, outputJson } = decided;
  if (step.kind === "end") {
    const follow = runEnd(step, outputJson);
    return { propose: () => link.advance(at, end, follow) };
  }
  if (step.kind === "retry" && step.delayMs > WORKER_BACKOFF_MS_MAX)
    return { propose: () => link.openTimer(at, engine.clock.now() + step.delayMs, end) };
  const next =
    step.kind === "retry"
      ? retryOf(engine, { ...at, failures: decided.failures }, step.delayMs)
      : visitOf(engine, at, step);
  const limit = hostLimit(next.timeout).timeoutMs;
  const follow: Follow = {
    kind: "next",
    node: next.at.node,
    retry: step.kind === "retry",
    ...(limit === undefined ? {} : { timeoutMs: limit + next.delayMs }),
  };
  return { propose: () => link.advance(at, end, follow), next };
}

function runEnd(step: Extract<NextStep, { kind: "end" }>, outputJson: string | undefined): Follow {
  if (step.outcome === "ok")
    return { kind: "end", outcome: "ok", resultJson: outputJson ?? "null" };
  const error: ErrorDescription = step.error;
  return { kind: "end", outcome: step.outcome, error };
}

function retryOf(engine: Engine, at: Position, delayMs: number): Next {
  const again = { ...at, attempt: at.attempt + 1 };
  return { at: again, timeout: evaluateTimeout(engine, again), delayMs };
}

function visitOf(engine: Engine, at: Position, step: { readonly node: string }): Next {
  const visit = engine.state.visitsOf(step.node) + 1;
  const first = { ...at, node: step.node, visit, attempt: 1, failures: 0, steps: at.steps + 1 };
  return { at: first, timeout: evaluateTimeout(engine, first), delayMs: 0 };
}

function askFor(
  engine: Engine,
  at: Position,
  outcome: Extract<NodeOutcome, { kind: "interaction" }>,
): Closing {
  const timeout = evaluateTimeout(engine, at);
  const nodeMs = timeout.kind === "limit" ? timeout.nodeMs : null;
  return {
    propose: () =>
      engine.link.openInteraction(at, {
        ...outcome.request,
        ...(nodeMs === null ? {} : { timeoutMs: Math.ceil(nodeMs) }),
      }),
  };
}
