/** A text on a screen of its own, with keys and a terminal that a test plays. */
import { visibleWidth } from "@earendil-works/pi-tui";
import type { Component } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import { clampScroll, openView, scrollView, viewText } from "../../../src/extension/text-view.ts";
import type { ViewKeys, ViewTheme, ViewTui } from "../../../src/extension/text-view.ts";
import type { StyledLine } from "../../../src/extension/run-words.ts";

const KEYS: ViewKeys = { matches: (data, key) => data === key };
const THEME = { fg: (_: string, text: string) => text, bold: (text: string) => text };

interface Shown {
  readonly view: Component;
  readonly ends: boolean[];
  readonly press: (...keys: readonly string[]) => void;
  readonly drawn: (width?: number) => readonly string[];
}

function shown(lines: readonly StyledLine[], rows = 13): Shown {
  const ends: boolean[] = [];
  const tui: ViewTui = { terminal: { rows }, requestRender: () => undefined };
  const done = (goesOn: boolean): void => void ends.push(goesOn);
  const parts = { tui, theme: THEME as ViewTheme, keys: KEYS, done };
  const view = scrollView({ ...parts, lines: () => lines, hint: "enter: go on" });
  view.render(40);
  return {
    view,
    ends,
    press: (...keys) => keys.forEach((key) => view.handleInput?.(key)),
    drawn: (width = 40) => view.render(width),
  };
}

const numbered = (count: number): readonly StyledLine[] =>
  Array.from({ length: count }, (_, index) => ({ role: "text", text: `line ${index + 1}` }));

describe("a view", () => {
  test("shows a short text whole, and how to leave", () => {
    const { drawn } = shown(numbered(2));
    expect(drawn().slice(1, -1)).toEqual([" line 1", " line 2", " enter: go on  esc: close"]);
  });

  test("scrolls a long one by lines and pages, and stops at its ends", () => {
    const { drawn, press } = shown(numbered(30));
    const body = (): readonly string[] => drawn().slice(1, -2);
    expect(body()).toHaveLength(7);
    press("tui.select.up");
    expect(body()[0]).toBe(" line 1");
    press("tui.select.down", "j", "k");
    expect(body()[0]).toBe(" line 2");
    press(" ");
    expect(body()[0]).toBe(" line 9");
    press("b");
    expect(body()[0]).toBe(" line 2");
    press(...Array.from({ length: 9 }, () => "tui.select.pageDown"));
    expect(body().at(-1)).toBe(" line 30");
    expect(drawn(80).at(-2)).toContain("24–30 of 30");
    press(...Array.from({ length: 9 }, () => "tui.select.pageUp"));
    expect(body()[0]).toBe(" line 1");
  });

  test("goes on with Enter, leaves with Escape, and minds no other key", () => {
    const { press, ends } = shown(numbered(2));
    press("x", "tui.select.confirm", "tui.select.cancel");
    expect(ends).toEqual([true, false]);
  });

  test("wraps what is too long, and fits every width", () => {
    const { drawn } = shown([{ role: "text", text: "漢字 and words ".repeat(12), bold: true }], 40);
    for (const width of [1, 2, 5, 20, 79]) {
      expect(drawn(width).every((line) => visibleWidth(line) <= width)).toBe(true);
    }
    expect(drawn(20).length).toBeGreaterThan(9);
  });

  test("cannot be scrolled out of its text", () => {
    expect(clampScroll(-3, 10, 4)).toBe(0);
    expect(clampScroll(9, 10, 4)).toBe(6);
    expect(clampScroll(2, 3, 9)).toBe(0);
  });
});

/** Pi's `custom`: it opens what the factory makes, and closes it when that is done. */
function screen(act: (component: Component, done: (result: boolean) => void) => void) {
  const closes: boolean[] = [];
  const custom = async (factory: (...parts: readonly unknown[]) => Component): Promise<boolean> =>
    await new Promise((resolve) => {
      const done = (result: boolean): void => {
        closes.push(result);
        resolve(result);
      };
      const tui: ViewTui = { terminal: { rows: 20 }, requestRender: () => undefined };
      act(factory(tui, THEME, KEYS, done), done);
    });
  return { ui: { custom } as never, closes };
}

describe("opening a view", () => {
  const text = (signal: AbortSignal) => ({ lines: ["a", "b"], hint: "", signal });

  test("waits for the user's keys", async () => {
    const enter = screen((component) => component.handleInput?.("tui.select.confirm"));
    expect(await viewText(enter, text(new AbortController().signal))).toBe(true);
    const escape = screen((component) => component.handleInput?.("tui.select.cancel"));
    expect(await viewText(escape, text(new AbortController().signal))).toBe(false);
  });

  test("ends with its signal, and is closed once", async () => {
    const end = new AbortController();
    const { ui, closes } = screen((component) => {
      end.abort();
      component.handleInput?.("tui.select.confirm");
    });
    expect(await viewText({ ui }, text(end.signal))).toBe(false);
    expect(closes).toEqual([false]);
  });

  test("opens nothing for a signal that has ended", async () => {
    const { ui } = screen(() => expect.unreachable());
    expect(await viewText({ ui }, text(AbortSignal.abort()))).toBe(false);
  });

  test("is left at once where Pi draws nothing", async () => {
    const ui = { custom: async () => undefined } as never;
    const { signal } = new AbortController();
    expect(await openView({ ui, signal }, () => expect.unreachable())).toBe(false);
  });
});
