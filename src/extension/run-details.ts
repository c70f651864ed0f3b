/** The details of one run, live, over the conversation; as a message where nothing can be drawn over. */
import { isHostGone } from "../client/rejection.ts";
import type { RunView } from "../gen/piworkflows/common/v1/run_pb.ts";
import type { Clock } from "../platform/clock.ts";
import type { CommandPlace } from "./command/call.ts";
import { detailLines } from "./detail-lines.ts";
import { describeFailure } from "./failure.ts";
import type { StyledLine } from "./run-words.ts";
import type { SessionLink } from "./session-link.ts";
import { openView, scrollView } from "./text-view.ts";

interface Watching {
  readonly link: SessionLink;
  readonly place: Pick<CommandPlace, "ui" | "mode">;
  readonly runId: string;
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** How often the times grow. */
const TICK_MS = 1_000;
/** Between two looks for a host that went away; the link itself waits for it. */
const AGAIN_MS = 500;

/** Shows the run until the user leaves. Returns at once where there is no screen to draw on. */
export async function showRun(watching: Watching): Promise<void> {
  if (watching.place.mode !== "tui") {
    const lines = await readRun(watching);
    watching.place.ui.notify(lines.map(({ text }) => text).join("\n"), "info");
    return;
  }
  const left = new AbortController();
  const signal = AbortSignal.any([watching.signal, left.signal]);
  const screen = new RunScreen(watching.clock);
  const followed = follow({ ...watching, signal }, screen);
  try {
    await openView({ ui: watching.place.ui, signal, overlay: true }, (tui, theme, keys, done) => {
      screen.onChange(() => tui.requestRender());
      return scrollView({ tui, theme, keys, lines: () => screen.lines(), hint: "", done });
    });
  } finally {
    screen.close();
    left.abort();
    await followed;
  }
}

async function readRun({ link, runId, signal, clock }: Watching): Promise<readonly StyledLine[]> {
  const { run } = await link.call(({ runs }) => runs.getRun({ runId }, { signal }), signal);
  return run === undefined ? [] : detailLines(run, clock.now());
}

class RunScreen {
  readonly #clock: Clock;
  readonly #ticks: { cancel(): void };
  #view: RunView | undefined;
  #note = "asking the host …";
  #redraw: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#ticks = clock.every(TICK_MS, () => this.#redraw?.());
  }

  onChange(redraw: () => void): void {
    this.#redraw = redraw;
  }

  show(view: RunView): void {
    this.#view = view;
    this.note("");
  }

  note(text: string): void {
    this.#note = text;
    this.#redraw?.();
  }

  lines(): readonly StyledLine[] {
    const shown = this.#view === undefined ? [] : detailLines(this.#view, this.#clock.now());
    return this.#note === "" ? shown : [...shown, { role: "warning", text: this.#note }];
  }

  close(): void {
    this.#redraw = undefined;
    this.#ticks.cancel();
  }
}

/** Never rejects: what goes wrong is shown. */
async function follow(watching: Watching, screen: RunScreen): Promise<void> {
  const { signal, clock, runId } = watching;
  while (!signal.aborted) {
    try {
      await followOnce(watching, screen);
      return;
    } catch (error) {
      if (signal.aborted) return;
      screen.note(describeFailure(error, { subject: runId, signal: undefined }).text);
      if (!isHostGone(error)) return;
      await new Promise<void>((resolve) => void clock.after(AGAIN_MS, resolve));
    }
  }
}

async function followOnce({ link, runId, signal }: Watching, screen: RunScreen): Promise<void> {
  const { runs } = await link.host(signal);
  for await (const { run } of runs.watchRun({ runId }, { signal })) {
    if (run !== undefined) screen.show(run);
  }
}
