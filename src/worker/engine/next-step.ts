import type { ErrorDescription } from "../../workflow/describe-error.ts";
import { describeError } from "../../workflow/describe-error.ts";
import { backoffDelay, nodeAt } from "../../workflow/graph.ts";
import type { Graph } from "../../workflow/graph.ts";
import type { JsonValue } from "../../workflow/json.ts";
import { routeAfter } from "../../workflow/route.ts";

/** How an attempt ended, as far as the way on depends on it. */
export interface Ended {
  readonly node: string;
  readonly outcome: "ok" | "failed" | "timed_out";
  readonly output?: JsonValue;
  readonly error?: ErrorDescription;
  /** False when the author said that trying again cannot help. */
  readonly retryable: boolean;
  /** Failed and timed-out attempts of this visit, this one included. */
  readonly failures: number;
  /** Visits the run has made, this one included. */
  readonly steps: number;
}

export type NextStep =
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "next"; readonly node: string }
  | { readonly kind: "end"; readonly outcome: "ok" }
  | {
      readonly kind: "end";
      readonly outcome: "failed" | "timed_out";
      readonly error: ErrorDescription;
    };

/** Decides what follows the end of an attempt. Pure: the same end always leads the same way. */
export function nextStep(graph: Graph, ended: Ended): NextStep {
  const delayMs = retryDelay(graph, ended);
  if (delayMs !== undefined) return { kind: "retry", delayMs };
  try {
    return follow(graph, ended);
  } catch (thrown) {
    return { kind: "end", outcome: "failed", error: describeError(thrown) };
  }
}

function retryDelay(graph: Graph, ended: Ended): number | undefined {
  if (ended.outcome === "ok" || !ended.retryable) return undefined;
  const retry = nodeAt(graph, ended.node)?.retry;
  if (retry === undefined || ended.failures >= retry.maxAttempts) return undefined;
  return backoffDelay(retry, ended.failures);
}

function follow(graph: Graph, ended: Ended): NextStep {
  const route = routeAfter(graph, ended.node, {
    outcome: ended.outcome,
    ...(ended.output === undefined ? {} : { output: ended.output }),
    ...(ended.error === undefined ? {} : { error: ended.error }),
  });
  if (route.kind === "end") return endOf(ended);
  if (ended.steps >= graph.maxSteps) return tooManySteps(graph, ended, route.to);
  return { kind: "next", node: route.to };
}

function endOf(ended: Ended): NextStep {
  if (ended.outcome === "ok") return { kind: "end", outcome: "ok" };
  const missing = { name: "Error", message: `node ${ended.node} ended ${ended.outcome}` };
  return { kind: "end", outcome: ended.outcome, error: ended.error ?? missing };
}

function tooManySteps(graph: Graph, ended: Ended, to: string): NextStep {
  const message =
    `after node ${ended.node}: entering ${to} would be step ${ended.steps + 1}, ` +
    `and maxSteps is ${graph.maxSteps}; raise maxSteps if the loop is meant`;
  return { kind: "end", outcome: "failed", error: { name: "MaxStepsExceeded", message } };
}
