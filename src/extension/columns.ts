/** Texts that fit a number of columns, whatever letters they hold. */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

const letters = new Intl.Segmenter();

/** A text without escape sequences, cut to a number of columns with a sign that it was. */
export function cutColumns(text: string, columns: number): string {
  if (visibleWidth(text) <= columns) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of letters.segment(text)) {
    used += visibleWidth(segment);
    if (used > columns - 1) break;
    kept += segment;
  }
  return columns < 1 ? "" : `${kept}…`;
}

/** A line that may be coloured, never wider than `columns`. */
export function fitLine(line: string, columns: number): string {
  return visibleWidth(line) <= columns ? line : truncateToWidth(line, Math.max(0, columns), "…");
}
