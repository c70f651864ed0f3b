/** A text on a screen of its own, to be scrolled: for what is too long for a dialog. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { Component } from "@earendil-works/pi-tui";
import { fitLine } from "./columns.ts";
import type { CommandPlace } from "./command/call.ts";
import { paintLine } from "./run-words.ts";
import type { StyledLine } from "./run-words.ts";

type Custom = ExtensionContext["ui"]["custom"];
type Factory = Parameters<Custom>[0];
export type ViewTui = Pick<Parameters<Factory>[0], "requestRender"> & {
  readonly terminal: { readonly rows: number };
};
export type ViewTheme = Parameters<Factory>[1];
export type ViewKeys = Pick<Parameters<Factory>[2], "matches">;

/** Of the terminal's height. */
const HEIGHT_SHARE = 0.8;
/** The rules and the foot. */
const FRAME_LINES = 3;
const LINES_MIN = 3;

export interface ViewParts {
  readonly tui: ViewTui;
  readonly theme: ViewTheme;
  readonly keys: ViewKeys;
  readonly lines: () => readonly StyledLine[];
  /** What the foot says besides how to scroll and leave. */
  readonly hint: string;
  /** True for the Enter key, false for leaving. */
  readonly done: (goesOn: boolean) => void;
}

/** The last line that can be seen at the bottom of a view that shows `height` of `count` lines. */
export function clampScroll(top: number, count: number, height: number): number {
  return Math.max(0, Math.min(top, count - height));
}

export function scrollView(parts: ViewParts): Component {
  const { tui, theme, keys, done } = parts;
  let top = 0;
  let count = 0;
  const height = (): number =>
    Math.max(LINES_MIN, Math.floor(tui.terminal.rows * HEIGHT_SHARE) - FRAME_LINES);
  const render = (width: number): string[] => {
    const inner = Math.max(1, width - 2);
    const body = parts
      .lines()
      .flatMap((line) => wrapTextWithAnsi(paintLine(line, theme), inner))
      .map((line) => fitLine(` ${line}`, width));
    count = body.length;
    top = clampScroll(top, count, height());
    const shown = body.slice(top, top + height());
    const rule = theme.fg("dim", "─".repeat(Math.max(0, width)));
    return [rule, ...shown, fitLine(theme.fg("dim", ` ${foot()}`), width), rule];
  };
  const foot = (): string => {
    const place =
      count > height()
        ? `${top + 1}–${Math.min(top + height(), count)} of ${count}  ↑↓ space b: scroll  `
        : "";
    return `${place}${parts.hint === "" ? "" : `${parts.hint}  `}esc: close`;
  };
  const scroll = (by: number): void => {
    top = clampScroll(top + by, count, height());
    tui.requestRender();
  };
  const handleInput = (data: string): void => {
    const by = STEPS.find(({ key, letter }) => data === letter || keys.matches(data, key));
    if (by !== undefined) scroll(by.lines + by.pages * height());
    else if (keys.matches(data, "tui.select.confirm")) done(true);
    else if (keys.matches(data, "tui.select.cancel")) done(false);
  };
  return { render, handleInput, invalidate: () => undefined };
}

/** In fullscreen mode Pi keeps the page keys for the transcript; letters as in `less` reach a view. */
const STEPS = [
  { key: "tui.select.up", letter: "k", lines: -1, pages: 0 },
  { key: "tui.select.down", letter: "j", lines: 1, pages: 0 },
  { key: "tui.select.pageUp", letter: "b", lines: 0, pages: -1 },
  { key: "tui.select.pageDown", letter: " ", lines: 0, pages: 1 },
] as const;

/** Shows a text until the user goes on (true) or leaves, or the signal ends it (both false). */
export async function viewText(
  { ui }: Pick<CommandPlace, "ui">,
  view: { readonly lines: readonly string[]; readonly hint: string; readonly signal: AbortSignal },
): Promise<boolean> {
  const [title = "", ...rest] = view.lines;
  const lines: readonly StyledLine[] = [
    { role: "accent", text: title, bold: true },
    ...rest.map((text) => ({ role: "text", text }) as const),
  ];
  return await openView({ ui, signal: view.signal }, (tui, theme, keys, done) =>
    scrollView({ tui, theme, keys, lines: () => lines, hint: view.hint, done }),
  );
}

interface Opening {
  readonly ui: Pick<CommandPlace["ui"], "custom">;
  readonly signal: AbortSignal;
  readonly overlay?: boolean;
}

type MakeView = (
  tui: ViewTui,
  theme: ViewTheme,
  keys: ViewKeys,
  done: (goesOn: boolean) => void,
) => Component & { dispose?(): void };

/** Opens a view and waits until it is left; the signal closes it, too. */
export async function openView(
  { ui, signal, overlay = false }: Opening,
  make: MakeView,
): Promise<boolean> {
  if (signal.aborted) return false;
  const closing = new AbortController();
  const close = (): void => closing.abort();
  signal.addEventListener("abort", close, { once: true });
  const goesOn = await ui.custom<boolean | undefined>(
    (tui, theme, keys, done) => {
      let isOpen = true;
      const once = (result: boolean): void => {
        if (isOpen) done(result);
        isOpen = false;
      };
      closing.signal.addEventListener("abort", () => once(false), { once: true });
      return make(tui, theme, keys, once);
    },
    overlay ? { overlay, overlayOptions: { width: "100%", anchor: "center" } } : {},
  );
  signal.removeEventListener("abort", close);
  // A program has no screen to draw on; it gets nothing at once.
  return goesOn ?? false;
}
