/** Columns of text that line up, also for wide letters. */

/** Only what is beyond ASCII needs to be measured, and only then is the measure loaded. */
const PLAIN = /^[\u0020-\u007e]*$/;
const GAP = "  ";
const SHORTEST_LAST = 12;

/** A function that tells how many columns a text takes, for texts like these. */
export async function widthOf(texts: Iterable<string>): Promise<(text: string) => number> {
  for (const text of texts) {
    if (PLAIN.test(text)) continue;
    const { default: stringWidth } = await import("string-width");
    return stringWidth;
  }
  return (text) => text.length;
}

/**
 * Rows as lines. All columns but the last are as wide as their widest cell; the
 * last is cut where `columns` ends. Cells must not hold escape sequences.
 */
export async function table(
  rows: readonly (readonly string[])[],
  { columns, right = [] }: { readonly columns: number; readonly right?: readonly number[] },
): Promise<readonly string[]> {
  const width = await widthOf(rows.flat());
  const widths = columnWidths(rows, width);
  return rows.map((row) => {
    const cells = row.map((cell, index) => {
      if (index === row.length - 1) return cell;
      const padding = " ".repeat(Math.max(0, (widths[index] ?? 0) - width(cell)));
      return right.includes(index) ? padding + cell : cell + padding;
    });
    const last = cells.pop() ?? "";
    const start = cells.map((cell) => cell + GAP).join("");
    const room = Math.max(SHORTEST_LAST, columns - width(start));
    return (start + cutTo(last, room, width)).trimEnd();
  });
}

interface Records {
  readonly columns: number;
  /** How many cells stay in the first line of a row that does not fit. */
  readonly first: number;
  /** Names of the columns; the first row of a table. */
  readonly heads: readonly string[];
}

/**
 * A table if it fits without being cut. Otherwise each row is a line with its
 * first cells, and below it a line for each other one that holds something.
 */
export async function tableOrRecords(
  rows: readonly (readonly string[])[],
  { columns, first, heads }: Records,
): Promise<readonly string[]> {
  const whole = await table([heads, ...rows], { columns: Number.POSITIVE_INFINITY });
  const width = await widthOf(whole);
  if (whole.every((line) => width(line) <= columns)) return whole;
  const starts = await table(
    [heads, ...rows].map((row) => row.slice(0, first)),
    { columns },
  );
  return starts.flatMap((line, index) => [line, ...restOf(rows[index - 1], first, heads)]);
}

/** Not cut: a terminal wraps what it cannot hold, and nothing is lost. */
function restOf(
  row: readonly string[] = [],
  first: number,
  heads: readonly string[],
): readonly string[] {
  const label = (index: number): string => (heads[index] ?? "").toLowerCase();
  const labelChars = Math.max(...heads.slice(first).map((head) => head.length));
  return row.flatMap((cell, index) =>
    index < first || cell === "" ? [] : [`${GAP}${label(index).padEnd(labelChars)}${GAP}${cell}`],
  );
}

/** Escape sequences that colour; they take no room. */
const COLOUR = /(\u001b\[[\d;]*m)/;
const letters = new Intl.Segmenter();

/** Cuts a line that may be coloured to a number of columns, and keeps its colours whole. */
export async function cutLine(line: string, columns: number): Promise<string> {
  const parts = line.split(COLOUR);
  const texts = parts.filter((_part, index) => index % 2 === 0);
  const width = await widthOf(texts);
  if (texts.reduce((sum, text) => sum + width(text), 0) <= columns) return line;
  let left = columns - 1;
  let isCut = false;
  const kept = parts.map((part, index) => {
    if (index % 2 === 1 || isCut) return index % 2 === 1 ? part : "";
    const piece = beginning(part, left, width);
    left -= width(piece);
    isCut = piece !== part;
    return isCut ? `${piece}…` : piece;
  });
  return kept.join("");
}

/** As many whole letters as fit. */
function beginning(text: string, columns: number, width: (text: string) => number): string {
  let used = 0;
  let end = 0;
  for (const { segment } of letters.segment(text)) {
    used += width(segment);
    if (used > columns) return text.slice(0, end);
    end += segment.length;
  }
  return text;
}

/** Cuts a text to a number of columns, with a sign that it was. */
export function cutTo(text: string, columns: number, width: (text: string) => number): string {
  return width(text) <= columns ? text : `${beginning(text, columns - 1, width)}…`;
}

function columnWidths(
  rows: readonly (readonly string[])[],
  width: (text: string) => number,
): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, width(cell));
    }
  }
  return widths;
}
