import { describe, expect, test } from "vitest";
import { nextStep } from "../../../../src/worker/engine/next-step.ts";
import type { Ended } from "../../../../src/worker/engine/next-step.ts";
import type { Graph, GraphEdge, GraphRetry } from "../../../../src/workflow/graph.ts";

const RETRY: GraphRetry = { maxAttempts: 3, backoffMs: 100, factor: 2, maxBackoffMs: 150 };

function graphOf(edges: readonly GraphEdge[], retry?: GraphRetry): Graph {
  const work = { path: "work", kind: "compute" as const, ...(retry ? { retry } : {}) };
  const nodes = [work, { path: "next", kind: "compute" as const }];
  return { name: "g", startAt: "work", maxSteps: 5, nodes, edges };
}

function ended(change: Partial<Ended>): Ended {
  return { node: "work", outcome: "ok", retryable: true, failures: 0, steps: 1, ...change };
}

const FAILED = { outcome: "failed", error: { name: "Error", message: "no" } } as const;
const ON_OUTCOME: GraphEdge = {
  from: "work",
  on: "$result.outcome",
  cases: [
    { value: "failed", to: "next" },
    { value: "timed_out", to: "next" },
  ],
};

describe("what follows an attempt", () => {
  test("is the target of a direct edge when it ended ok", () => {
    const graph = graphOf([{ from: "work", to: "next" }]);
    expect(nextStep(graph, ended({ output: 1 }))).toEqual({ kind: "next", node: "next" });
  });

  test("is the end of the run when no edge leaves the node", () => {
    expect(nextStep(graphOf([]), ended({ output: 1 }))).toEqual({ kind: "end", outcome: "ok" });
  });

  test.each(["failed", "timed_out"] as const)(
    "is the run's end when nothing routes %s",
    (outcome) => {
      const graph = graphOf([{ from: "work", to: "next" }]);
      const error = { name: "Error", message: "no" };
      const step = nextStep(graph, ended({ outcome, error, failures: 1 }));
      expect(step).toEqual({ kind: "end", outcome, error });
    },
  );

  test.each(["failed", "timed_out"] as const)("is the routed node for %s", (outcome) => {
    const step = nextStep(graphOf([ON_OUTCOME]), ended({ ...FAILED, outcome, failures: 1 }));
    expect(step).toEqual({ kind: "next", node: "next" });
  });

  test("is a failed run when the value leads nowhere", () => {
    const edge = { from: "work", on: "$.way", cases: [{ value: "a", to: "next" }] };
    const step = nextStep(graphOf([edge]), ended({ output: { way: "b" } }));
    expect(step).toMatchObject({ kind: "end", outcome: "failed", error: { name: "RoutingError" } });
    expect(JSON.stringify(step)).toContain("work");
  });

  test("is a failed run that names the limit when maxSteps is reached", () => {
    const graph = graphOf([{ from: "work", to: "next" }]);
    const step = nextStep(graph, ended({ output: 1, steps: 5 }));
    expect(step).toMatchObject({ error: { name: "MaxStepsExceeded" } });
    expect(JSON.stringify(step)).toContain("maxSteps is 5");
  });
});

describe("another try", () => {
  test.each([
    [1, 100],
    [2, 150],
  ])("comes after failure %i with a pause of %i ms", (failures, delayMs) => {
    const step = nextStep(graphOf([], RETRY), ended({ ...FAILED, failures }));
    expect(step).toEqual({ kind: "retry", delayMs });
  });

  test("does not come when the attempts are used up", () => {
    const step = nextStep(graphOf([], RETRY), ended({ ...FAILED, failures: 3 }));
    expect(step).toMatchObject({ kind: "end", outcome: "failed" });
  });

  test("does not come when the author said that it cannot help", () => {
    const step = nextStep(graphOf([], RETRY), ended({ ...FAILED, failures: 1, retryable: false }));
    expect(step).toMatchObject({ kind: "end", outcome: "failed" });
  });

  test("comes before a route for failures", () => {
    const step = nextStep(graphOf([ON_OUTCOME], RETRY), ended({ ...FAILED, failures: 1 }));
    expect(step).toMatchObject({ kind: "retry" });
  });
});
