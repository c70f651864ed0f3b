/** The runs of the session above the editor: a component in the TUI, plain lines for RPC. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";
import { systemClock } from "../platform/clock.ts";
import type { Clock, Timer } from "../platform/clock.ts";
import { Guard } from "./guard.ts";
import { endedUntil, plainPaint, widgetLines } from "./run-lines.ts";
import type { Paint } from "./run-lines.ts";
import type { SessionLink } from "./session-link.ts";
import { statusText } from "./status-line.ts";

/** Pi's name for our widget and our text in the footer. */
const KEY = "workflow";
/** How often the times in the lines grow, while there are lines. */
const TICK_MS = 1_000;
/** Of a program that shows the lines; nobody knows its width. */
const RPC_COLUMNS = 120;

type Ui = Pick<ExtensionContext["ui"], "setWidget" | "setStatus">;
type Look = Pick<ExtensionContext, "mode"> & { readonly ui: Ui };
type Theme = ExtensionContext["ui"]["theme"];

interface WidgetParts {
  readonly clock?: Clock;
  readonly guard?: Guard;
}

/** Widgets by their links, for the command that clears one. */
const widgets = new WeakMap<SessionLink, Widget>();

/**
 * Shows the session's runs and how it stands to the host until the returned
 * function is called. A failure in drawing is noted and never reaches Pi.
 */
export function startWidget(ctx: Look, link: SessionLink, parts: WidgetParts = {}): () => void {
  const widget = new Widget(ctx, link, parts);
  widgets.set(link, widget);
  return () => {
    widgets.delete(link);
    widget.stop();
  };
}

/** Takes the line of a run that ended off the screen; false when there is none. */
export function clearEnded(link: SessionLink): boolean {
  return widgets.get(link)?.clearEnded() ?? false;
}

class Widget {
  readonly #ctx: Look;
  readonly #link: SessionLink;
  readonly #clock: Clock;
  readonly #guard: Guard;
  readonly #unsubscribe: () => void;
  #redraw: (() => void) | undefined;
  #dismissed: string | undefined;
  #shown = "";
  #status: string | undefined;
  #ticks: Timer | undefined;
  #wake: Timer | undefined;
  #stopped = false;

  constructor(ctx: Look, link: SessionLink, { clock = systemClock, guard }: WidgetParts) {
    this.#ctx = ctx;
    this.#link = link;
    this.#clock = clock;
    this.#guard = guard ?? new Guard();
    this.#unsubscribe = link.onChange(() => this.#update());
    this.#update();
  }

  clearEnded(): boolean {
    const runId = this.#link.picture?.ended?.summary?.runId;
    if (runId === undefined || runId === this.#dismissed) return false;
    this.#dismissed = runId;
    this.#update();
    return true;
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#unsubscribe();
    this.#ticks?.cancel();
    this.#wake?.cancel();
    // The session may be gone already, and with it everything of its context.
    this.#guard.run("widget stop", () => {
      this.#ctx.ui.setWidget(KEY, undefined);
      this.#ctx.ui.setStatus(KEY, undefined);
    });
  }

  #update(): void {
    if (this.#stopped) return;
    this.#guard.run("widget", () => {
      this.#showStatus();
      if (this.#ctx.mode === "tui") this.#showComponent();
      else this.#showLines();
      this.#wakeLater();
    });
  }

  #showStatus(): void {
    const status = statusText(this.#link, this.#clock.now());
    if (status === this.#status) return;
    this.#status = status;
    this.#ctx.ui.setStatus(KEY, status);
  }

  /** The component stays while there are lines, and draws them anew when something changed. */
  #showComponent(): void {
    if (this.#lines(RPC_COLUMNS, plainPaint).length === 0) {
      if (this.#redraw === undefined) return;
      this.#redraw = undefined;
      this.#ticks?.cancel();
      this.#ctx.ui.setWidget(KEY, undefined);
    } else if (this.#redraw === undefined) {
      this.#redraw = () => undefined;
      this.#ticks = this.#clock.every(TICK_MS, () => this.#update());
      this.#ctx.ui.setWidget(KEY, (tui, theme) => this.#component(tui, theme));
    } else {
      this.#redraw();
    }
  }

  #component(tui: { requestRender(): void }, theme: Theme): Component {
    this.#redraw = () => tui.requestRender();
    const paint: Paint = (role, text) => theme.fg(role, text);
    const render = (width: number): string[] =>
      this.#guard.run("widget render", () => [...this.#lines(width, paint)]) ?? [];
    return { render, invalidate: () => undefined };
  }

  /** A program gets lines when they say something new, not because a second has passed. */
  #showLines(): void {
    const lines = [...this.#lines(RPC_COLUMNS, plainPaint)];
    const shown = lines.join("\n");
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#ctx.ui.setWidget(KEY, lines.length === 0 ? undefined : lines);
  }

  #lines(width: number, paint: Paint): readonly string[] {
    const frame = { width, now: this.#clock.now(), paint };
    return widgetLines(this.#link.picture, frame, this.#dismissed);
  }

  /** Somebody has to look again when the line of an ended run is to go, or a provider is ready. */
  #wakeLater(): void {
    this.#wake?.cancel();
    this.#wake = undefined;
    const now = this.#clock.now();
    const heldUntil = this.#link.picture?.heldUntil;
    const times = [
      endedUntil(this.#link.picture),
      heldUntil === undefined ? undefined : Number(heldUntil.seconds) * 1_000 + 1_000,
    ].filter((time) => time !== undefined && time > now);
    if (times.length === 0) return;
    const next = Math.min(...(times as readonly number[]));
    this.#wake = this.#clock.after(next - now, () => this.#update());
  }
}
