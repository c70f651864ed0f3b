import { crashPoint } from "../../platform/crash-points.ts";
import type { Clock } from "../../platform/clock.ts";
import { describeError } from "../../workflow/describe-error.ts";
import { TimeoutError } from "../../workflow/errors.ts";
import type { Graph } from "../../workflow/graph.ts";
import type { NodeDefinition } from "../../workflow/nodes.ts";
import type { NodeOutcome, NodeTools } from "../nodes/executor.ts";
import { effectKey } from "../nodes/effect.ts";
import { execute } from "../nodes/index.ts";
import type { Place, RunLink } from "./run-link.ts";
import type { RunState } from "./run-state.ts";
import { limitOf, timeoutOf, workTimeout } from "./timeout.ts";

/** What one activation works with. */
export interface Engine {
  readonly graph: Graph;
  readonly nodes: Readonly<Record<string, NodeDefinition>>;
  readonly state: RunState;
  readonly link: RunLink;
  readonly clock: Clock;
  /** Aborts on pause, cancel, loss of the claim and the host's end; the reason says which. */
  readonly stop: AbortSignal;
}

/** The attempt that is open. */
export interface Position extends Place {
  readonly node: string;
  readonly visit: number;
  readonly attempt: number;
  /** Failed and timed-out attempts of this visit before this one. */
  readonly failures: number;
  /** Visits the run has made, this one included. */
  readonly steps: number;
}

/** A node's limit, evaluated before its attempt is proposed so that the host can enforce it. */
export type Timeout =
  | { readonly kind: "limit"; readonly nodeMs: number | null; readonly workMs: number | null }
  | { readonly kind: "broken"; readonly thrown: unknown };

export function evaluateTimeout(
  engine: Engine,
  at: { readonly node: string; readonly visit: number; readonly attempt: number },
): Timeout {
  try {
    const node = definitionOf(engine, at.node);
    const nodeMs = timeoutOf(node, engine.state.context(at, engine.stop));
    return { kind: "limit", nodeMs, workMs: workTimeout(node, nodeMs) };
  } catch (thrown) {
    return { kind: "broken", thrown };
  }
}

/** A limit that is the same in every run; absent when the author computes it. */
export function fixedTimeout(node: NodeDefinition): Timeout | undefined {
  const { timeoutMs } = node;
  if (typeof timeoutMs === "function") return undefined;
  try {
    const nodeMs = limitOf(node, timeoutMs);
    return { kind: "limit", nodeMs, workMs: workTimeout(node, nodeMs) };
  } catch (thrown) {
    return { kind: "broken", thrown };
  }
}

/** Milliseconds until the host gives the attempt up, for a proposal. */
export function hostLimit(timeout: Timeout): { readonly timeoutMs?: number } {
  if (timeout.kind === "broken" || timeout.workMs === null) return {};
  return { timeoutMs: Math.ceil(timeout.workMs) };
}

/**
 * Executes the open attempt and returns how it ended. Author code that ignores
 * the signal past its deadline is not raced: the host ends the process, so that
 * no later attempt ever runs beside it.
 */
export async function executeAttempt(
  engine: Engine,
  at: Position,
  timeout: Timeout,
): Promise<NodeOutcome> {
  if (engine.stop.aborted) return { kind: "stopped" };
  if (timeout.kind === "broken")
    return { kind: "failed", error: describeError(timeout.thrown), retryable: false };
  const ending = new AbortController();
  const { signal } = ending;
  const limit = timeout.workMs;
  const timer =
    limit === null
      ? undefined
      : engine.clock.after(limit, () => ending.abort(new TimeoutError(at.node, limit)));
  // `AbortSignal.any` would leave something behind on the one signal of the activation each time.
  const stopped = (): void => ending.abort(engine.stop.reason);
  engine.stop.addEventListener("abort", stopped, { once: true });
  try {
    const node = definitionOf(engine, at.node);
    const context = engine.state.context({ visit: at.visit, attempt: at.attempt }, signal);
    return await execute(node, context, toolsFor(engine, at, { signal, deadlineMs: limit }));
  } catch (thrown) {
    return { kind: "failed", error: describeError(thrown), retryable: false };
  } finally {
    timer?.cancel();
    engine.stop.removeEventListener("abort", stopped);
  }
}

function toolsFor(
  engine: Engine,
  at: Position,
  limits: { readonly signal: AbortSignal; readonly deadlineMs: number | null },
): NodeTools {
  const { link } = engine;
  const { runId, workflow, projectDir } = engine.state.facts;
  const run = { id: runId, workflow, projectDir, visit: at.visit, attempt: at.attempt };
  return {
    ...limits,
    node: at.node,
    beginEffect: (request) => {
      const key = effectKey(run, request.type, at.node);
      return link.beginEffect(at, { key, ...request });
    },
    effectProcess: (effectId, pid) => link.effectProcess(at, effectId, pid),
    publishUpdate: (text) => link.progress(at.node, text),
    print: (stream, text) => process[stream].write(text),
    note: (point) => crashPoint(point),
  };
}

export function definitionOf(engine: Engine, node: string): NodeDefinition {
  const definition = engine.nodes[node];
  if (definition === undefined) throw new Error(`the workflow has no node ${node}`);
  return definition;
}
