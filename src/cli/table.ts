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

/** Cuts a text to a number of columns, with a sign that it was. */
export function cutTo(text: string, columns: number, width: (text: string) => number): string {
  if (width(text) <= columns) return text;
  let kept = "";
  let used = 1;
  for (const letter of text) {
    used += width(letter);
    if (used > columns) break;
    kept += letter;
  }
  return `${kept}…`;
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
