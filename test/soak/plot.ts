/** Draws what was sampled: panels one below the other over one axis of time. */

export interface Series {
  readonly name: string;
  readonly colour: string;
  /** Absent values break the line. */
  readonly values: readonly (number | undefined)[];
}

export interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly Series[];
}

/** Something that happened, drawn through all panels or, for what happens often, at the foot. */
export interface Mark {
  readonly atMs: number;
  readonly name: string;
}

export interface MarkStyle {
  readonly name: string;
  readonly colour: string;
  readonly through: boolean;
}

export interface Plot {
  readonly title: string;
  readonly times: readonly number[];
  readonly panels: readonly Panel[];
  readonly marks: readonly Mark[];
  readonly markStyles: readonly MarkStyle[];
}

const WIDTH = 1200;
const LEFT = 70;
const RIGHT = 230;
const TOP = 50;
const PANEL = 170;
const GAP = 46;
const ROW = 11;
const INNER = WIDTH - LEFT - RIGHT;
const MINUTE_MS = 60_000;
const TICKS = 5;
const STEPS = [1, 2, 2.5, 5, 10];
/** Finer lines than pixels only make the file large. */
const POINTS_MAX = INNER * 2;

export function drawPlot(plot: Plot): string {
  const endMs = Math.max(MINUTE_MS / 60, ...plot.times, ...plot.marks.map(({ atMs }) => atMs));
  const rows = plot.markStyles.filter(({ through }) => !through);
  const panelsEnd = TOP + plot.panels.length * (PANEL + GAP);
  const height = panelsEnd + rows.length * ROW + 60;
  const x = (ms: number): number => LEFT + (ms / endMs) * INNER;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    text({ x: LEFT, y: 24, size: 16 }, plot.title),
    ...throughMarks(plot, x, panelsEnd - GAP),
    ...plot.panels.flatMap((panel, index) => drawPanel(plot, panel, { index, endMs, x })),
    ...markRows(plot, rows, { top: panelsEnd - 10, x }),
    text({ x: LEFT + INNER / 2, y: height - 12, anchor: "middle" }, "time in minutes"),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

interface Frame {
  readonly index: number;
  readonly endMs: number;
  readonly x: (ms: number) => number;
}

function drawPanel(plot: Plot, panel: Panel, { index, endMs, x }: Frame): readonly string[] {
  const top = TOP + index * (PANEL + GAP);
  const values = panel.series.flatMap((one) => one.values).filter((value) => value !== undefined);
  const step = niceStep(Math.max(1e-9, ...values) / TICKS);
  const max = step * Math.max(1, Math.ceil(Math.max(0, ...values) / step));
  const y = (value: number): number => top + PANEL - (value / max) * PANEL;
  const lines = [text({ x: LEFT, y: top - 8 }, `${panel.title} in ${panel.unit}`)];
  for (let tick = 0; tick <= max + step / 2; tick += step) {
    lines.push(line([LEFT, y(tick), LEFT + INNER, y(tick)], "#ddd"));
    lines.push(text({ x: LEFT - 8, y: y(tick) + 4, anchor: "end" }, label(tick)));
  }
  const minutes = niceStep(endMs / MINUTE_MS / 10);
  for (let minute = 0; minute * MINUTE_MS <= endMs; minute += minutes) {
    const at = x(minute * MINUTE_MS);
    lines.push(line([at, top + PANEL, at, top + PANEL + 4], "#444"));
    lines.push(text({ x: at, y: top + PANEL + 17, anchor: "middle" }, label(minute)));
  }
  lines.push(line([LEFT, top, LEFT, top + PANEL], "#444"));
  lines.push(line([LEFT, top + PANEL, LEFT + INNER, top + PANEL], "#444"));
  for (const [place, series] of panel.series.entries()) {
    const d = pathOf(plot.times, series.values, { x, y });
    lines.push(`<path d="${d}" fill="none" stroke="${series.colour}" stroke-width="1.5"/>`);
    lines.push(...legend(series, top + 14 + place * 18));
  }
  return lines;
}

function throughMarks(plot: Plot, x: Frame["x"], bottom: number): readonly string[] {
  const styles = plot.markStyles.filter(({ through }) => through);
  return styles.flatMap(({ name, colour }, place) => {
    const marks = plot.marks.filter((mark) => mark.name === name);
    const dash = place === 0 ? "" : ' stroke-dasharray="4 3"';
    const entry = `${name} (${marks.length})`;
    return [
      ...marks.map(({ atMs }) => line([x(atMs), TOP, x(atMs), bottom], colour, dash)),
      ...legend({ name: entry, colour }, TOP + PANEL - 40 + place * 18),
    ];
  });
}

function markRows(
  plot: Plot,
  rows: readonly MarkStyle[],
  { top, x }: { readonly top: number; readonly x: Frame["x"] },
): readonly string[] {
  return rows.flatMap(({ name, colour }, row) => {
    const y = top + row * ROW;
    const marks = plot.marks.filter((mark) => mark.name === name);
    return [
      ...marks.map(({ atMs }) => line([x(atMs), y, x(atMs), y + ROW - 3], colour)),
      text({ x: LEFT + INNER + 20, y: y + ROW - 2 }, `${name} (${marks.length})`),
    ];
  });
}

function pathOf(
  times: readonly number[],
  values: readonly (number | undefined)[],
  { x, y }: { readonly x: Frame["x"]; readonly y: (value: number) => number },
): string {
  const every = Math.max(1, Math.floor(times.length / POINTS_MAX));
  let isDown = false;
  let path = "";
  for (let index = 0; index < times.length; index += every) {
    const value = values[index];
    if (value !== undefined) {
      path += `${isDown ? "L" : "M"}${x(times[index] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
    }
    isDown = value !== undefined;
  }
  return path;
}

function legend(
  { name, colour }: { readonly name: string; readonly colour: string },
  y: number,
): readonly string[] {
  const from = LEFT + INNER + 20;
  return [line([from, y, from + 20, y], colour), text({ x: from + 28, y: y + 4 }, name)];
}

/** 1, 2, 2.5 or 5 times a power of ten, not below what is asked for. */
function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return (STEPS.find((step) => step * power >= rough) ?? 10) * power;
}

function label(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function line(
  [x1, y1, x2, y2]: readonly [number, number, number, number],
  colour: string,
  more = "",
): string {
  const at = [x1, y1, x2, y2].map((value) => value.toFixed(1));
  return `<line x1="${at[0]}" y1="${at[1]}" x2="${at[2]}" y2="${at[3]}" stroke="${colour}"${more}/>`;
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly size?: number;
  readonly anchor?: "end" | "middle";
}

function text({ x, y, size = 12, anchor }: TextPlace, words: string): string {
  const where = anchor === undefined ? "" : ` text-anchor="${anchor}"`;
  const safe = words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${x}" y="${y}" font-size="${size}"${where}>${safe}</text>`;
}
