import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { drawingOf } from "../../../src/cli/graph/drawing.ts";
import type { Drawing } from "../../../src/cli/graph/drawing.ts";
import { drawDot, drawMermaid } from "../../../src/cli/graph/languages.ts";
import { drawSvg } from "../../../src/cli/graph/svg.ts";
import { ASCII_LETTERS, BOX_LETTERS, drawText } from "../../../src/cli/graph/text-drawing.ts";
import { toValue } from "../../../src/cli/values.ts";
import { GraphSchema } from "../../../src/gen/piworkflows/common/v1/graph_pb.ts";

type Init = MessageInitShape<typeof GraphSchema>;

const RELEASE: Init = {
  name: "release-note",
  startAt: "collect",
  // Not in the order of the arrows, as authors write them.
  nodes: [
    { path: "publish", kind: "action", effect: { policy: "manual", type: "github.release" } },
    { path: "collect", kind: "shell", effect: { policy: "idempotent", type: "git.log" } },
    { path: "draft", kind: "compute", retry: { maxAttempts: 3 } },
    { path: "approve", kind: "checkpoint" },
  ],
  edges: [
    { from: "collect", to: "draft" },
    { from: "draft", to: "approve" },
    {
      from: "approve",
      on: "$.route",
      cases: [
        { value: toValue("", "yes"), to: "publish" },
        { value: toValue("", "no"), to: "draft" },
      ],
      defaultTo: "approve",
    },
  ],
};

const drawing = (init: Init, statuses: Readonly<Record<string, string>> = {}): Drawing =>
  drawingOf(create(GraphSchema, init), new Map(Object.entries(statuses)));

describe("a graph as text", () => {
  test("shows each node, each arrow, and loops as rails", () => {
    expect(drawText(drawing(RELEASE), BOX_LETTERS).join("\n")).toBe(
      `
● collect  (shell, idempotent git.log)
│
● draft  (compute, 3 tries) ◀───────────────────┐
│                                               │
● approve  (checkpoint) ◀───────────────────┐   │
├─ $.route = yes ─▶ publish ────────────────┼─┐ │
├─ $.route = no ─▶ draft ───────────────────┼─┼─┘
└─ otherwise ─▶ approve ────────────────────┘ │
                                              │
● publish  (action, manual github.release) ◀──┘`.trim(),
    );
  });

  test("is plain ASCII where that is asked for, with the state of a run's nodes", () => {
    const lines = drawText(
      drawing(RELEASE, { collect: "ok", draft: "ok, visit 2" }),
      ASCII_LETTERS,
    );
    expect(lines.join("\n")).toBe(
      `
* collect  (shell, idempotent git.log)  [ok]
|
* draft  (compute, 3 tries)  [ok, visit 2] <------+
|                                                 |
* approve  (checkpoint) <---------------------+   |
+- $.route = yes -> publish ------------------+-+ |
+- $.route = no -> draft ---------------------+-+-+
\`- otherwise -> approve ----------------------+ |
                                                |
* publish  (action, manual github.release) <----+`.trim(),
    );
  });

  test("of one node is one line", () => {
    const lines = drawText(
      drawing({ startAt: "only", nodes: [{ path: "only", kind: "compute" }] }),
      BOX_LETTERS,
    );
    expect(lines).toEqual(["● only  (compute)"]);
  });

  test("shows a node that nothing leads to, after the others", () => {
    const nodes = [
      { path: "lost", kind: "compute" },
      { path: "start", kind: "wait" },
    ];
    const lines = drawText(drawing({ startAt: "start", nodes }), BOX_LETTERS);
    expect(lines).toEqual(["● start  (wait)", "", "● lost  (compute)"]);
  });

  test("survives a graph as long as any", () => {
    const count = 20_000;
    const nodes = Array.from({ length: count }, (_, index) => ({
      path: `n${index}`,
      kind: "compute",
    }));
    const edges = nodes.slice(1).map((node, index) => ({ from: `n${index}`, to: node.path }));
    const { nodes: drawn } = drawing({ startAt: "n0", nodes: nodes.toReversed(), edges });
    expect(drawn.map(({ path }) => path)).toEqual(nodes.map(({ path }) => path));
  });

  test("shows names that would move the cursor as what they are", () => {
    const nodes = [{ path: "a\u001b[2J", kind: "compute" }];
    const lines = drawText(drawing({ startAt: "a\u001b[2J", nodes }), BOX_LETTERS);
    expect(lines).toEqual(["● a\\x1b[2J  (compute)"]);
  });
});

describe("a graph in another language", () => {
  test("is Mermaid", () => {
    expect(drawMermaid(drawing(RELEASE))).toEqual([
      "---",
      'title: "release-note"',
      "---",
      "flowchart TD",
      '  n0[["collect<br>shell, idempotent git.log"]]',
      '  n1["draft<br>compute, 3 tries"]',
      '  n2{{"approve<br>checkpoint"}}',
      '  n3[["publish<br>action, manual github.release"]]',
      "  n0 --> n1",
      "  n1 --> n2",
      '  n2 -->|"$.route = yes"| n3',
      '  n2 -->|"$.route = no"| n1',
      '  n2 -->|"otherwise"| n2',
    ]);
  });

  test("is DOT", () => {
    const lines = drawDot(drawing(RELEASE));
    expect(lines[0]).toBe('digraph "release-note" {');
    expect(lines).toContain('  "draft" [label="draft\\ncompute, 3 tries"];');
    expect(lines).toContain('  "approve" [label="approve\\ncheckpoint", shape=hexagon];');
    expect(lines).toContain('  "approve" -> "draft" [label="$.route = no"];');
    expect(lines.at(-1)).toBe("}");
  });

  test("quotes what would end a label", () => {
    const init: Init = {
      name: 'a"b',
      startAt: 'x"|#\\',
      nodes: [{ path: 'x"|#\\', kind: "compute" }],
    };
    expect(drawDot(drawing(init))).toContain('  "x\\"|#\\\\" [label="x\\"|#\\\\\\ncompute"];');
    expect(drawMermaid(drawing(init))).toContain('  n0["x#quot;#124;#35;\\<br>compute"]');
  });

  test("is an SVG that holds every node, arrow and label, escaped", () => {
    const svg = drawSvg(
      drawing({
        ...RELEASE,
        name: "<b>&",
      }),
    ).join("\n");
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="\d+" height="\d+"/);
    expect(svg).toContain("<title>&lt;b&gt;&amp;</title>");
    expect(svg.match(/marker-end/g)).toHaveLength(5);
    for (const node of ["collect", "draft", "approve", "publish"]) {
      expect(svg).toContain(`font-weight="bold">${node}</text>`);
    }
    expect(svg).toContain(">$.route = no</text>");
    expect(svg).not.toContain("NaN");
  });
});
