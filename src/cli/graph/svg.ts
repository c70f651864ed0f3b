/** A graph as a picture that needs nothing else to be shown. */
import { graphlib, layout } from "@dagrejs/dagre";
import type { Drawing } from "./drawing.ts";
import { labelOf, shapeOf } from "./languages.ts";

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

interface Placed {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly paths: readonly {
    readonly points: readonly Point[];
    readonly label: string;
    readonly at: Point;
  }[];
  readonly width: number;
  readonly height: number;
}

/** The part of dagre's graph that is used here; its own types cannot be resolved. */
interface LayoutGraph {
  setGraph(label: object): void;
  setNode(name: string, label: object): void;
  setEdge(from: string, to: string, label: object, name: string): void;
  graph(): { readonly width?: number; readonly height?: number };
  node(name: string): Box;
  edge(
    from: string,
    to: string,
    name: string,
  ): { readonly points: readonly Point[] } & Partial<Point>;
}

const LETTER_WIDTH = 7.5;
const LINE_HEIGHT = 16;
const PADDING = 12;
const MARGIN = 16;
/** Corner radius of a node by its kind; the others are plain boxes. */
const ROUND: Readonly<Record<string, number>> = { wait: 20, checkpoint: 12 };
const FILL: Readonly<Record<string, string>> = {
  checkpoint: "#fff3cd",
  wait: "#e2e3ff",
  action: "#d9f2e3",
  shell: "#d9f2e3",
};

export function drawSvg(drawing: Drawing): readonly string[] {
  const placed = place(drawing);
  const { width, height } = placed;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    `<title>${xml(drawing.name)}</title>`,
    '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#555"/></marker></defs>',
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...placed.paths.flatMap(edgeLines),
    ...drawing.nodes.flatMap((node) => nodeLines(node, placed.boxes.get(node.path))),
    "</svg>",
  ];
}

function place({ nodes, edges }: Drawing): Placed {
  const graph = newGraph();
  graph.setGraph({ rankdir: "TB", nodesep: 40, ranksep: 50, marginx: MARGIN, marginy: MARGIN });
  for (const node of nodes) graph.setNode(node.path, sizeOf(labelOf(node)));
  for (const [index, { from, to, label }] of edges.entries()) {
    const size = label === "" ? { width: 0, height: 0 } : sizeOf([label]);
    graph.setEdge(from, to, { ...size, labelpos: "c" }, String(index));
  }
  (layout as (graph: LayoutGraph) => void)(graph);
  const size = graph.graph();
  return {
    boxes: new Map(nodes.map(({ path }) => [path, graph.node(path)])),
    paths: edges.map(({ from, to, label }, index) => {
      const edge = graph.edge(from, to, String(index));
      return { points: edge.points, label, at: { x: edge.x ?? 0, y: edge.y ?? 0 } };
    }),
    width: Math.ceil(size.width ?? 0),
    height: Math.ceil(size.height ?? 0),
  };
}

function newGraph(): LayoutGraph {
  const { Graph } = graphlib as { readonly Graph: unknown };
  return new (Graph as new (options: object) => LayoutGraph)({ multigraph: true });
}

function nodeLines(node: Drawing["nodes"][number], box: Box | undefined): readonly string[] {
  if (box === undefined) return [];
  const kind = shapeOf(node);
  const texts = labelOf(node);
  const top = box.y - ((texts.length - 1) * LINE_HEIGHT) / 2 + 4;
  return [
    `<rect x="${round(box.x - box.width / 2)}" y="${round(box.y - box.height / 2)}" width="${round(box.width)}" height="${round(box.height)}" rx="${ROUND[kind] ?? 4}" fill="${FILL[kind] ?? "#eef2f7"}" stroke="#555"/>`,
    ...texts.map((text, index) => {
      const weight = index === 0 ? ' font-weight="bold"' : ' fill="#444"';
      return `<text x="${round(box.x)}" y="${round(top + index * LINE_HEIGHT)}" text-anchor="middle"${weight}>${xml(text)}</text>`;
    }),
  ];
}

function edgeLines({ points, label, at }: Placed["paths"][number]): readonly string[] {
  const steps = points.map(({ x, y }) => `${round(x)} ${round(y)}`).join("L");
  const line = `<path d="M${steps}" fill="none" stroke="#555" marker-end="url(#head)"/>`;
  if (label === "") return [line];
  const { width, height } = sizeOf([label]);
  return [
    line,
    `<rect x="${round(at.x - width / 2)}" y="${round(at.y - height / 2)}" width="${round(width)}" height="${round(height)}" fill="white" fill-opacity="0.85"/>`,
    `<text x="${round(at.x)}" y="${round(at.y + 4)}" text-anchor="middle" font-size="11" fill="#444">${xml(label)}</text>`,
  ];
}

function sizeOf(texts: readonly string[]): { readonly width: number; readonly height: number } {
  const letters = Math.max(...texts.map((text) => Array.from(text).length));
  return {
    width: letters * LETTER_WIDTH + 2 * PADDING,
    height: texts.length * LINE_HEIGHT + PADDING,
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function xml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
