/**
 * A graph as text: one line for each node, below it one for each arrow that
 * leaves it. An arrow that does not just lead to the next line is also drawn as
 * a rail at the right, so that loops and jumps can be seen.
 */
import type { DrawnEdge, Drawing } from "./drawing.ts";

export interface Letters {
  readonly node: string;
  readonly down: string;
  readonly branch: string;
  readonly last: string;
  readonly arrow: string;
  readonly head: string;
  readonly line: string;
  readonly rail: string;
  readonly cross: string;
  readonly top: string;
  readonly bottom: string;
  readonly join: string;
}

export const BOX_LETTERS: Letters = {
  node: "●",
  down: "│",
  branch: "├─",
  last: "└─",
  arrow: "─▶",
  head: "◀",
  line: "─",
  rail: "│",
  cross: "┼",
  top: "┐",
  bottom: "┘",
  join: "┤",
};

export const ASCII_LETTERS: Letters = {
  node: "*",
  down: "|",
  branch: "+-",
  last: "`-",
  arrow: "->",
  head: "<",
  line: "-",
  rail: "|",
  cross: "+",
  top: "+",
  bottom: "+",
  join: "+",
};

/** A line of the drawing: a node, an arrow with a rail, or only text. */
interface Row {
  readonly text: string;
  readonly node?: string;
  /** The node that a rail leads to from here. */
  readonly to?: string;
}

/** All arrows to one node share one rail, from the first line it touches to the last. */
interface Rail {
  readonly target: number;
  readonly rows: ReadonlySet<number>;
  readonly first: number;
  readonly last: number;
  lane: number;
}

const LANE_CHARS = 2;
const RAIL_GAP = 2;

export function drawText(drawing: Drawing, letters: Letters): readonly string[] {
  const rows = rowsOf(drawing, letters);
  const rails = railsOf(rows);
  const width = Math.max(...rows.map(({ text }) => charCount(text))) + RAIL_GAP;
  return rows.map((row, index) => {
    const right = railText(rails, index, letters);
    if (right === undefined) return row.text;
    const filler = right.touches ? letters.line : " ";
    const room = width - charCount(row.text);
    const start = right.touches && row.node !== undefined ? ` ${letters.head}` : " ";
    return (row.text + start + filler.repeat(room - charCount(start)) + right.text).trimEnd();
  });
}

function rowsOf({ nodes, edges }: Drawing, letters: Letters): readonly Row[] {
  const rows: Row[] = [];
  for (const [index, node] of nodes.entries()) {
    const status = node.status === "" ? "" : `  [${node.status}]`;
    rows.push({ text: `${letters.node} ${node.path}  (${node.kind})${status}`, node: node.path });
    const leaving = edges.filter(({ from }) => from === node.path);
    const next = nodes[index + 1]?.path;
    rows.push(...arrowRows(leaving, next, letters));
  }
  return rows;
}

function arrowRows(
  leaving: readonly DrawnEdge[],
  next: string | undefined,
  letters: Letters,
): readonly Row[] {
  const [only] = leaving;
  if (leaving.length === 1 && only?.to === next) return [{ text: letters.down }];
  const rows = leaving.map(({ to, label }, index) => {
    const corner = index === leaving.length - 1 ? letters.last : letters.branch;
    const text = `${corner}${label === "" ? "" : ` ${label} `}${letters.arrow} ${to}`;
    return to === next && index === leaving.length - 1 ? { text } : { text, to };
  });
  return next === undefined ? rows : [...rows, { text: "" }];
}

function railsOf(rows: readonly Row[]): readonly Rail[] {
  const nodeRows = new Map(
    rows.flatMap(({ node }, row) => (node === undefined ? [] : [[node, row]])),
  );
  const touched = new Map<number, Set<number>>();
  for (const [row, { to }] of rows.entries()) {
    const target = to === undefined ? undefined : nodeRows.get(to);
    if (target === undefined) continue;
    touched.set(target, (touched.get(target) ?? new Set([target])).add(row));
  }
  const rails = [...touched].map(([target, touches]) => ({
    target,
    rows: touches,
    first: Math.min(...touches),
    last: Math.max(...touches),
    lane: 0,
  }));
  return inLanes(rails.toSorted((left, right) => span(left) - span(right)));
}

/** Short rails inside, long ones outside, and no two of them in the same place. */
function inLanes(rails: readonly Rail[]): readonly Rail[] {
  const placed: Rail[] = [];
  for (const rail of rails) {
    const taken = new Set(placed.filter((other) => overlap(rail, other)).map(({ lane }) => lane));
    while (taken.has(rail.lane)) rail.lane += 1;
    placed.push(rail);
  }
  return placed;
}

/** What stands at the right of one line, and whether its text is connected with it. */
function railText(
  rails: readonly Rail[],
  row: number,
  letters: Letters,
): { readonly text: string; readonly touches: boolean } | undefined {
  const here = rails.filter(({ first, last }) => first <= row && row <= last);
  if (here.length === 0) return undefined;
  const touching = here.filter(({ rows }) => rows.has(row));
  const reach = Math.max(-1, ...touching.map(({ lane }) => lane));
  const lanes = Math.max(...here.map(({ lane }) => lane)) + 1;
  let text = "";
  for (let lane = 0; lane < lanes; lane += 1) {
    const rail = here.find((one) => one.lane === lane);
    const filler = lane < reach ? letters.line : " ";
    text += letterAt(rail, row, { letters, passing: lane < reach }) + filler.repeat(LANE_CHARS - 1);
  }
  return { text, touches: touching.length > 0 };
}

function letterAt(
  rail: Rail | undefined,
  row: number,
  { letters, passing }: { readonly letters: Letters; readonly passing: boolean },
): string {
  if (rail === undefined) return passing ? letters.line : " ";
  if (!rail.rows.has(row)) return passing ? letters.cross : letters.rail;
  if (passing) return letters.cross;
  if (row === rail.first) return letters.top;
  return row === rail.last ? letters.bottom : letters.join;
}

function overlap(left: Rail, right: Rail): boolean {
  return left.first <= right.last && right.first <= left.last;
}

function span({ first, last }: Rail): number {
  return last - first;
}

/** Columns, as far as letters take one each; wide ones only bend the rails. */
function charCount(text: string): number {
  return Array.from(text).length;
}
