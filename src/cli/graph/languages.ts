/** A graph in the languages of other drawing programs. */
import type { DrawnNode, Drawing } from "./drawing.ts";

/** Opening and closing of a node's shape in Mermaid, by the first word of its kind. */
const MERMAID_SHAPES: Readonly<Record<string, readonly [string, string]>> = {
  checkpoint: ["{{", "}}"],
  wait: ["([", "])"],
  action: ["[[", "]]"],
  shell: ["[[", "]]"],
};
const DOT_SHAPES: Readonly<Record<string, string>> = {
  checkpoint: "hexagon",
  wait: "ellipse",
  action: "component",
  shell: "component",
};

export function drawMermaid({ name, nodes, edges }: Drawing): readonly string[] {
  const ids = idsOf(nodes);
  return [
    "---",
    `title: ${JSON.stringify(name)}`,
    "---",
    "flowchart TD",
    ...nodes.map((node) => {
      const [open, close] = MERMAID_SHAPES[shapeOf(node)] ?? ["[", "]"];
      return `  ${ids.get(node.path)}${open}"${mermaidText(labelOf(node).join("<br>"))}"${close}`;
    }),
    ...edges.map(({ from, to, label }) => {
      const text = label === "" ? "" : `|"${mermaidText(label)}"|`;
      return `  ${ids.get(from)} -->${text} ${ids.get(to)}`;
    }),
  ];
}

export function drawDot({ name, nodes, edges }: Drawing): readonly string[] {
  return [
    `digraph ${quoted(name)} {`,
    "  rankdir=TB;",
    '  node [shape=box, fontname="sans-serif"];',
    '  edge [fontname="sans-serif", fontsize=10];',
    ...nodes.map((node) => {
      const shape = DOT_SHAPES[shapeOf(node)];
      const look = shape === undefined ? "" : `, shape=${shape}`;
      return `  ${quoted(node.path)} [label=${quoted(labelOf(node).join("\n"))}${look}];`;
    }),
    ...edges.map(({ from, to, label }) => {
      const text = label === "" ? "" : ` [label=${quoted(label)}]`;
      return `  ${quoted(from)} -> ${quoted(to)}${text};`;
    }),
    "}",
  ];
}

/** The lines that stand in a node's shape. */
export function labelOf({ path, kind, status }: DrawnNode): readonly string[] {
  return [path, kind, status].filter((line) => line !== "");
}

/** The node's kind alone, by which its shape is chosen. */
export function shapeOf({ kind }: DrawnNode): string {
  return /^\w+/.exec(kind)?.[0] ?? "";
}

/** Paths may hold letters that mean something in Mermaid, so nodes get plain names. */
function idsOf(nodes: readonly DrawnNode[]): ReadonlyMap<string, string> {
  return new Map(nodes.map(({ path }, index) => [path, `n${index}`]));
}

function mermaidText(text: string): string {
  return text.replaceAll("#", "#35;").replaceAll('"', "#quot;").replaceAll("|", "#124;");
}

function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `"${escaped}"`;
}
