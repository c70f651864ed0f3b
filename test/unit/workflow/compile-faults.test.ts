import { describe, expect, test } from "vitest";
import { compile } from "../../../src/workflow/compile.ts";
import { compute, wait } from "../../../src/workflow/nodes.ts";
import { problems, run } from "./findings-of.ts";

const node = compute({ run });

describe("a definition with faults", () => {
  test("is told everything at once, each with its place", () => {
    const found = problems({
      name: "",
      title: 5,
      input: {},
      startAt: "nowhere",
      maxSteps: 0,
      nodes: { a: compute({} as never), "b/c": node, d: wait({ forMs: -1 }) },
      edges: [
        { from: "a", to: "x" },
        { from: "a", to: "d" },
        { from: "y", switch: { on: "result", cases: { v: "z" } } },
        "edge",
      ],
    });
    expect(found).toEqual([
      "name: must not be empty",
      "title: must be a text or a function, not 5",
      "input: must be a function that takes the input, not an object",
      "maxSteps: must be a whole number from 1 to 1000000, not 0",
      "nodes.a.run: must be a function, not undefined",
      'nodes["b/c"]: must not hold "/", which separates the parts of a path',
      "nodes.d.forMs: must be more than 0 ms, not -1",
      'startAt: there is no node "nowhere"; the nodes are "a", "b/c", "d"',
      'edges[0].to: there is no node "x"; the nodes are "a", "b/c", "d"',
      'edges[1].from: a second edge leaves "a"; the first is edges[0]. Use a switch',
      'edges[2].from: there is no node "y"; the nodes are "a", "b/c", "d"',
      'edges[2].switch.on: must be $.field, $output.field, $result.outcome or $result.error.name, not "result"',
      'edges[2].switch.cases.v: there is no node "z"; the nodes are "a", "b/c", "d"',
      'edges[3]: must be { from, to } or { from, switch }, not "edge"',
    ]);
  });

  test.each([
    ["biuld", "build"],
    ["Build", "build"],
    ["build", "rebuild"],
    ["deploy-prod", "deploy-production"],
    ["bb", undefined],
    ["b", undefined],
    ["toString", undefined],
  ])("names the node that %s was meant to be, and none that it was not", (to, near) => {
    const names = near === undefined ? ["a", "c"] : ["a", near];
    const nodes = Object.fromEntries(names.map((name) => [name, node]));
    const hint =
      near === undefined ? 'the nodes are "a", "c"' : `the nearest one is ${JSON.stringify(near)}`;
    const [, second = ""] = names;
    const edges = [
      { from: "a", to: second },
      { from: second, to },
    ];
    expect(problems({ nodes, startAt: "a", edges })).toEqual([
      `edges[1].to: there is no node ${JSON.stringify(to)}; ${hint}`,
    ]);
  });

  test.each<[unknown, string]>([
    [undefined, "a workflow must be an object, not undefined"],
    [null, "a workflow must be an object, not null"],
    ["text", 'a workflow must be an object, not "text"'],
    [[], "a workflow must be an object, not an array"],
    [() => ({}), "a workflow must be an object, not a function"],
  ])("is refused when it is %s", (definition, message) => {
    expect(compile(definition)).toEqual({ problems: [{ place: "", message }], warnings: [] });
  });

  test.each<[object, string[]]>([
    [
      { nodes: undefined },
      ["nodes: must be an object of nodes by name, not undefined", 'startAt: there is no node "a"'],
    ],
    [{ nodes: {} }, ["nodes: must hold a node", 'startAt: there is no node "a"']],
    [
      { nodes: [node] },
      ["nodes: must be an object of nodes by name, not an array", 'startAt: there is no node "a"'],
    ],
    [{ startAt: undefined }, ["startAt: must name a node, not undefined"]],
    [{ startAt: "toString" }, ['startAt: there is no node "toString"; the nodes are "a"']],
    [{ edges: {} }, ["edges: must be an array, not an object"]],
    [{ name: undefined }, ["name: must be a text, not undefined"]],
    [{ name: "x".repeat(257) }, ["name: has 257 bytes, more than 256"]],
    [{ name: "a\nb" }, ['name: "a\\nb" holds a control character']],
    [{ maxSteps: 1.5 }, ["maxSteps: must be a whole number from 1 to 1000000, not 1.5"]],
    [{ maxSteps: 1_000_001 }, ["maxSteps: must be a whole number from 1 to 1000000, not 1000001"]],
    [{ maxSteps: Number.NaN }, ["maxSteps: must be a whole number from 1 to 1000000, not NaN"]],
  ])("is refused in its head: %j", (overrides, found) => {
    expect(problems(overrides)).toEqual(found);
  });

  test.each<[string, RegExp]>([
    ["", /must not be empty/],
    ["a/b", /must not hold "\/"/],
    ["$output", /must not begin with "\$"/],
    ["constructor", /is a reserved name/],
    ["prototype", /is a reserved name/],
    ["tab\t", /control character/],
    ["del\u007f", /control character/],
    ["line\u2028", /control character/],
    ["turned\u202e", /control character/],
    ["\ud800", /half of a surrogate pair/],
    ["é".repeat(129), /has 258 bytes, more than 256/],
  ])("is refused for the node name %j", (name, message) => {
    const found = problems({ nodes: { [name]: node }, startAt: name });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(message);
  });

  test("is refused for a node named __proto__", () => {
    const nodes: unknown = JSON.parse('{"__proto__": 1, "a": 1}');
    expect(problems({ nodes })).toContain("nodes.__proto__: is a reserved name");
  });

  test.each(["x", "é".repeat(128), "a.b", "with space", "日本", "toString"])(
    "may use the node name %j",
    (name) => {
      expect(problems({ nodes: { [name]: node }, startAt: name })).toEqual([]);
    },
  );

  test("is refused for two names that look the same", () => {
    const found = problems({
      nodes: { a: node, "\u00e9": node, "e\u0301": node },
      edges: [
        { from: "a", to: "\u00e9" },
        { from: "\u00e9", to: "e\u0301" },
      ],
    });
    expect(found).toEqual([
      "nodes.e\u0301: another node has the same name in another Unicode form",
    ]);
  });

  test("is refused for nodes that no edge leads to", () => {
    const nodes = { a: node, b: node, c: node, d: node };
    const edges = [
      { from: "c", to: "d" },
      { from: "d", to: "c" },
      { from: "a", switch: { on: "$.x", cases: {}, default: "b" } },
    ];
    expect(problems({ nodes, edges })).toEqual([
      'nodes.c: no edge leads here from "a"',
      'nodes.d: no edge leads here from "a"',
    ]);
  });

  test.each<[unknown, string]>([
    [{ from: "a" }, "edges[0]: must have exactly one of to and switch"],
    [
      { from: "a", to: "a", switch: { on: "$.x", default: "a" } },
      "edges[0]: must have exactly one of to and switch",
    ],
    [{ to: "a" }, "edges[0].from: must name a node, not undefined"],
    [{ from: 5, to: "a" }, "edges[0].from: must name a node, not 5"],
    [null, "edges[0]: must be { from, to } or { from, switch }, not null"],
    [{ from: "a", switch: "x" }, 'edges[0].switch: must be { on, cases, default? }, not "x"'],
    [{ from: "a", switch: { on: "$.x" } }, "edges[0].switch: must have a case or a default"],
    [
      { from: "a", switch: { on: "$.x", cases: [] } },
      "edges[0].switch.cases: must map values to nodes, not an array",
    ],
    [
      { from: "a", switch: { on: "$.x", cases: { "a b": 1 } } },
      'edges[0].switch.cases["a b"]: must name a node, not 1',
    ],
    [
      { from: "a", switch: { on: "$result.outcome", cases: { done: "a" } } },
      "edges[0].switch.cases.done: is no outcome; those are ok, failed, timed_out, cancelled",
    ],
  ])("is refused for the edge %j", (edge, message) => {
    expect(problems({ edges: [edge] })).toContain(message);
  });

  test.each([
    "",
    "$",
    "$.",
    "$.a.",
    "$..a",
    "$output",
    "$result",
    "$result.output",
    "$result.error",
    "$result.error.message",
    "field",
    "$x.a",
    5,
    null,
    undefined,
  ])("is refused for a switch on %j", (on) => {
    const found = problems({ edges: [{ from: "a", switch: { on, default: "a" } }] });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^edges\[0\]\.switch\.on: must be/);
  });
});
