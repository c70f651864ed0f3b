import { describe, expect, test } from "vitest";
import { GRAPHS_KEPT_MAX } from "../../../src/host/limits.ts";
import {
  graphDigest,
  mayRetry,
  nodeOf,
  runGraph,
  targetsFrom,
} from "../../../src/host/operations/graph.ts";
import type { GraphRecord, RunRecord } from "../../../src/host/records.ts";
import type { Reader } from "../../../src/host/store/tx.ts";
import { runRecord } from "../../support/records.ts";

const RETRY = { maxAttempts: 2, backoffMs: 0, factor: 1, maxBackoffMs: 0 };
const GRAPH: GraphRecord = {
  name: "notes",
  startAt: "pick",
  maxSteps: 10,
  nodes: [
    { path: "pick", kind: "compute" },
    { path: "try", kind: "compute", retry: RETRY },
  ],
  edges: [
    { from: "pick", on: "$.to", cases: [{ value: "try", to: "try" }], default: "end" },
    { from: "try", to: "end" },
  ],
};

/** A reader that counts how often a graph is read. */
function counting(): { readonly reader: Reader; readonly reads: string[] } {
  const reads: string[] = [];
  const graph = (runId: string): GraphRecord => {
    reads.push(runId);
    return GRAPH;
  };
  // Only the graph of a run is asked for here.
  return { reader: { runs: { graph } } as unknown as Reader, reads };
}

describe("a graph", () => {
  test("tells where the edge of a node may lead", () => {
    expect(targetsFrom(GRAPH, "pick")).toEqual(["try", "end"]);
    expect(targetsFrom(GRAPH, "try")).toEqual(["end"]);
    expect(targetsFrom(GRAPH, "end")).toEqual([]);
  });

  test("knows its nodes by path", () => {
    expect(nodeOf(GRAPH, "try")?.kind).toBe("compute");
    expect(nodeOf(GRAPH, "nowhere")).toBeUndefined();
  });

  test.each([
    ["pick", 0, true],
    ["pick", 1, false],
    ["try", 1, true],
    ["try", 2, false],
    ["nowhere", 1, false],
  ])("says whether %s may be tried after %i failures: %s", (path, counted, may) => {
    expect(mayRetry(GRAPH, path, counted)).toBe(may);
  });

  test("has a digest of what it says", () => {
    expect(graphDigest(GRAPH)).toMatch(/^[0-9a-f]{64}$/);
    expect(graphDigest({ ...GRAPH, maxSteps: 11 })).not.toBe(graphDigest(GRAPH));
  });
});

describe("the graph of a run", () => {
  const ids = (count: number): readonly RunRecord[] =>
    Array.from({ length: count }, () => runRecord());

  test("is read once, and again when another is accepted", () => {
    const { reader, reads } = counting();
    const [run] = ids(1);
    if (run === undefined) throw new Error("no run");
    expect(runGraph(reader, run)).toBe(runGraph(reader, run));
    expect(reads).toHaveLength(1);
    runGraph(reader, { ...run, graphDigest: "another" });
    expect(reads).toHaveLength(2);
  });

  test("is kept for the runs that were looked at last", () => {
    const { reader, reads } = counting();
    const runs = ids(GRAPHS_KEPT_MAX + 1);
    for (const run of runs) runGraph(reader, run);
    expect(reads).toHaveLength(GRAPHS_KEPT_MAX + 1);
    for (const run of runs.slice(1)) runGraph(reader, run);
    expect(reads).toHaveLength(GRAPHS_KEPT_MAX + 1);
    for (const run of runs.slice(0, 1)) runGraph(reader, run);
    expect(reads).toHaveLength(GRAPHS_KEPT_MAX + 2);
  });
});
