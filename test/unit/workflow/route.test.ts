import { describe, expect, test } from "vitest";
import { RoutingError } from "../../../src/workflow/errors.ts";
import { backoffDelay, edgeFrom, nodeAt } from "../../../src/workflow/graph.ts";
import type { Graph, GraphEdge, SwitchEdge } from "../../../src/workflow/graph.ts";
import { parseRoutePath, routeAfter } from "../../../src/workflow/route.ts";
import type { Routable } from "../../../src/workflow/route.ts";

function graphOf(edge?: GraphEdge): Graph {
  const nodes = [
    { path: "a", kind: "compute" as const },
    { path: "b", kind: "compute" as const },
  ];
  return { name: "g", startAt: "a", maxSteps: 9, nodes, edges: edge === undefined ? [] : [edge] };
}

function choice(on: string, cases: Record<string, string>, fallback?: string): SwitchEdge {
  const list = Object.entries(cases).map(([value, to]) => ({ value, to }));
  return { from: "a", on, cases: list, ...(fallback === undefined ? {} : { default: fallback }) };
}

const ok = (output: Routable["output"]): Routable => ({
  outcome: "ok",
  ...(output === undefined ? {} : { output }),
});
const failed: Routable = { outcome: "failed", error: { name: "HttpError" } };
const timedOut: Routable = { outcome: "timed_out", error: { name: "TimeoutError" } };

describe("the way on from a node", () => {
  test.each<[string, GraphEdge | undefined, Routable, string]>([
    ["ends without an edge", undefined, ok(1), "end ok"],
    ["ends a failure without an edge", undefined, failed, "end failed"],
    ["follows a direct edge", { from: "a", to: "b" }, ok(1), "b"],
    ["does not carry a failure over a direct edge", { from: "a", to: "b" }, failed, "end failed"],
    [
      "does not carry a timeout over a direct edge",
      { from: "a", to: "b" },
      timedOut,
      "end timed_out",
    ],
    ["takes the case of a text", choice("$.route", { yes: "b" }), ok({ route: "yes" }), "b"],
    ["takes the case of a number", choice("$.n", { 3: "b" }), ok({ n: 3 }), "b"],
    ["takes the case of zero", choice("$.n", { 0: "b" }, "c"), ok({ n: 0 }), "b"],
    ["takes the case of false", choice("$.ready", { false: "b" }, "c"), ok({ ready: false }), "b"],
    ["takes the case of an empty text", choice("$.t", { "": "b" }, "c"), ok({ t: "" }), "b"],
    ["reads $output like $", choice("$output.route", { yes: "b" }), ok({ route: "yes" }), "b"],
    [
      "reads nested fields",
      choice("$.plan.kind", { big: "b" }),
      ok({ plan: { kind: "big" } }),
      "b",
    ],
    ["takes the default", choice("$.route", { yes: "b" }, "c"), ok({ route: "no" }), "c"],
    [
      "does not mistake an inherited member for a case",
      choice("$.route", {}, "c"),
      ok({ route: "toString" }),
      "c",
    ],
    ["routes success by outcome", choice("$result.outcome", { ok: "b" }), ok(1), "b"],
    ["routes a failure by outcome", choice("$result.outcome", { failed: "b" }), failed, "b"],
    ["routes a timeout by outcome", choice("$result.outcome", { timed_out: "b" }), timedOut, "b"],
    ["routes a failure by default", choice("$result.outcome", { ok: "b" }, "c"), failed, "c"],
    [
      "routes a failure by the error's name",
      choice("$result.error.name", { HttpError: "b" }),
      failed,
      "b",
    ],
    [
      "takes the default when there was no error",
      choice("$result.error.name", { HttpError: "b" }, "c"),
      ok(1),
      "c",
    ],
    [
      "ends a failure that no case asks for",
      choice("$result.outcome", { ok: "b" }),
      failed,
      "end failed",
    ],
    [
      "ends a failure whose name no case asks for",
      choice("$result.error.name", { Other: "b" }),
      failed,
      "end failed",
    ],
    [
      "ends a failure without a name",
      choice("$result.error.name", { Other: "b" }),
      { outcome: "failed" },
      "end failed",
    ],
    [
      "ends a failure when the switch asks for the output",
      choice("$.route", { yes: "b" }, "c"),
      failed,
      "end failed",
    ],
  ])("%s", (_name, edge, result, expected) => {
    const route = routeAfter(graphOf(edge), "a", result);
    expect(route.kind === "to" ? route.to : `end ${route.outcome}`).toBe(expected);
  });

  test.each<[string, SwitchEdge, Routable, string]>([
    [
      "a value without a case",
      choice("$.route", { yes: "b", no: "c" }),
      ok({ route: "maybe" }),
      'after node a: $.route is "maybe", which is none of "yes", "no"',
    ],
    [
      "an absent field",
      choice("$.route", { yes: "b" }, "c"),
      ok({}),
      'after node a: $.route must be a string, number or boolean, not absent (cases: "yes")',
    ],
    [
      "an inherited member",
      choice("$.constructor", { x: "b" }),
      ok({}),
      'after node a: $.constructor must be a string, number or boolean, not absent (cases: "x")',
    ],
    [
      "null",
      choice("$.route", { null: "b" }),
      ok({ route: null }),
      'after node a: $.route must be a string, number or boolean, not null (cases: "null")',
    ],
    [
      "an object",
      choice("$.route", {}, "b"),
      ok({ route: {} }),
      "after node a: $.route must be a string, number or boolean, not an object (cases: no case)",
    ],
    [
      "an array",
      choice("$.route", { a: "b" }),
      ok({ route: ["a"] }),
      'after node a: $.route must be a string, number or boolean, not an array (cases: "a")',
    ],
    [
      "an output that has no fields",
      choice("$.length", { 3: "b" }),
      ok("abc"),
      'after node a: $.length must be a string, number or boolean, not absent (cases: "3")',
    ],
    [
      "no error name and no default",
      choice("$result.error.name", { E: "b" }),
      ok(1),
      "after node a: $result.error.name is absent, because the node ended ok, and there is no default",
    ],
    [
      "an outcome without a case",
      choice("$result.outcome", { failed: "b" }),
      ok(1),
      'after node a: $result.outcome is "ok", which is none of "failed"',
    ],
  ])("fails for %s, naming node, value and cases", (_name, edge, result, message) => {
    const attempt = (): unknown => routeAfter(graphOf(edge), "a", result);
    expect(attempt).toThrow(RoutingError);
    expect(attempt).toThrow(message);
  });

  test("cuts a giant value in the message", () => {
    const graph = graphOf(choice("$.t", { a: "b" }));
    const giant = ok({ t: "x".repeat(1_000_000) });
    expect(() => routeAfter(graph, "a", giant)).toThrow(/^.{0,300}$/);
  });
});

describe("the path of a switch", () => {
  test.each([
    ["$.a", { source: "output", members: ["a"] }],
    ["$output.a.b", { source: "output", members: ["a", "b"] }],
    ["$result.outcome", { source: "result", members: ["outcome"] }],
    ["$result.error.name", { source: "result", members: ["error", "name"] }],
  ])("is read: %s", (on, expected) => {
    expect(parseRoutePath(on)).toEqual(expected);
  });
});

describe("the graph", () => {
  test("finds nodes and edges by path", () => {
    const edge = { from: "a", to: "b" };
    expect(edgeFrom(graphOf(edge), "a")).toBe(edge);
    expect(edgeFrom(graphOf(edge), "b")).toBeUndefined();
    expect(nodeAt(graphOf(), "b")?.kind).toBe("compute");
    expect(nodeAt(graphOf(), "z")).toBeUndefined();
  });

  test("grows the pause between attempts up to its limit", () => {
    const retry = { maxAttempts: 9, backoffMs: 100, factor: 3, maxBackoffMs: 1_000 };
    expect([1, 2, 3, 4, 5_000].map((failures) => backoffDelay(retry, failures))).toEqual([
      100, 300, 900, 1_000, 1_000,
    ]);
    expect(backoffDelay({ ...retry, backoffMs: 0 }, 3)).toBe(0);
  });
});
