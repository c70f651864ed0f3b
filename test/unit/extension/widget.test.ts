import type { Component } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import { Guard } from "../../../src/extension/guard.ts";
import { statusText } from "../../../src/extension/status-line.ts";
import { clearEnded, startWidget } from "../../../src/extension/widget.ts";
import { InteractionKind } from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { RunStatus } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { SessionRun } from "../../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import { ago, FakeLink, NOW, pictureOf, sessionRun } from "../../support/extension-fakes.ts";
import { FakeClock } from "../../support/fake-clock.ts";

type Look = Parameters<typeof startWidget>[0];
type Content = Parameters<Look["ui"]["setWidget"]>[1] | readonly string[];

/** Pi's screen, as far as a widget can reach it. */
class Screen {
  readonly contents: Content[] = [];
  readonly statuses: (string | undefined)[] = [];
  redraws = 0;
  broken = false;
  readonly #mode: "tui" | "rpc";
  #component: Component | undefined;

  constructor(mode: "tui" | "rpc") {
    this.#mode = mode;
  }

  get look(): Look {
    return {
      mode: this.#mode,
      ui: {
        setWidget: (_key: string, content: Content) => this.#set(content),
        setStatus: (_key: string, text: string | undefined) => void this.statuses.push(text),
      },
    };
  }

  /** What the component draws now; nothing when there is none. */
  draw(width = 100): readonly string[] {
    return this.#component?.render(width) ?? [];
  }

  #set(content: Content): void {
    if (this.broken) throw new Error("This extension instance is stale");
    this.contents.push(content);
    const tui = { requestRender: () => (this.redraws += 1) };
    const theme = { fg: (_role: string, text: string) => text };
    this.#component =
      typeof content === "function" ? content(tui as never, theme as never) : undefined;
  }
}

interface Rig {
  readonly screen: Screen;
  readonly link: FakeLink;
  readonly clock: FakeClock;
  readonly guard: Guard;
  readonly stop: () => void;
}

function widget(mode: "tui" | "rpc"): Rig {
  const screen = new Screen(mode);
  const link = new FakeLink();
  const clock = new FakeClock(NOW);
  const guard = new Guard();
  return { screen, link, clock, guard, stop: startWidget(screen.look, link, { clock, guard }) };
}

const ENDED = sessionRun({ status: RunStatus.COMPLETED, finishedAt: ago(10_000) });

describe("the widget in the TUI", () => {
  test("is a component while there are runs, and nothing before and after", () => {
    const { screen, link } = widget("tui");
    expect(screen.contents).toEqual([]);
    link.show(pictureOf({ runs: [sessionRun()] }));
    expect(screen.draw()).toEqual(["▶ release 1.2 · draft (step 3) · 2 min 0 s"]);
    link.show(pictureOf({}));
    expect(screen.contents.at(-1)).toBeUndefined();
    expect(screen.draw()).toEqual([]);
  });

  test("is drawn again at once when the picture changes, without being replaced", () => {
    const { screen, link } = widget("tui");
    link.show(pictureOf({ runs: [sessionRun()] }));
    const before = screen.redraws;
    link.show(pictureOf({ runs: [sessionRun({ node: "review" })] }));
    expect(screen.redraws).toBe(before + 1);
    expect(screen.contents).toHaveLength(1);
    expect(screen.draw()[0]).toContain("review");
  });

  test("lets its times grow every second, and only while it is shown", () => {
    const { screen, link, clock } = widget("tui");
    clock.advance(5_000);
    expect(screen.redraws).toBe(0);
    link.show(pictureOf({ runs: [sessionRun()] }));
    clock.advance(3_000);
    expect(screen.redraws).toBe(3);
    expect(screen.draw()[0]).toContain("2 min 8 s");
    link.show(pictureOf({}));
    const before = screen.redraws;
    clock.advance(5_000);
    expect(screen.redraws).toBe(before);
  });

  test("takes a run that ended away after a minute", () => {
    const { screen, link, clock } = widget("tui");
    link.show(pictureOf({ ended: ENDED }));
    expect(screen.draw()).toHaveLength(1);
    clock.advance(49_999);
    expect(screen.draw()).toHaveLength(1);
    clock.advance(1);
    expect(screen.contents.at(-1)).toBeUndefined();
  });

  test("draws nothing rather than throwing, and notes why", () => {
    const { screen, link, guard } = widget("tui");
    link.show(pictureOf({ runs: [sessionRun()] }));
    link.picture = { runs: undefined } as never;
    expect(screen.draw()).toEqual([]);
    expect(guard.faults.map(({ where }) => where)).toEqual(["widget render"]);
  });
});

describe("the widget in RPC mode", () => {
  test("is a list of lines, sent again when it says something new", () => {
    const { screen, link, clock } = widget("rpc");
    link.show(pictureOf({ runs: [sessionRun()] }));
    link.show(pictureOf({ runs: [sessionRun()] }));
    clock.advance(60_000);
    expect(screen.contents).toEqual([["▶ release 1.2 · draft (step 3) · 2 min 0 s"]]);
    link.show(pictureOf({}));
    expect(screen.contents.at(-1)).toBeUndefined();
  });

  test("takes a run that ended away after a minute", () => {
    const { screen, link, clock } = widget("rpc");
    link.show(pictureOf({ ended: ENDED }));
    clock.advance(50_000);
    expect(screen.contents).toEqual([["✓ release 1.2 · completed · 1 min 50 s"], undefined]);
  });
});

describe("clearing", () => {
  test("takes the run that ended off the screen, once", () => {
    const { screen, link } = widget("rpc");
    link.show(pictureOf({ ended: ENDED }));
    expect(clearEnded(link)).toBe(true);
    expect(screen.contents.at(-1)).toBeUndefined();
    expect(clearEnded(link)).toBe(false);
  });

  test("does nothing for a link without a widget", () => {
    expect(clearEnded(new FakeLink())).toBe(false);
  });
});

describe("a widget that is stopped", () => {
  test("takes everything off the screen and leaves no timer and no listener", () => {
    const { screen, link, clock, stop } = widget("tui");
    link.show(pictureOf({ runs: [sessionRun()], ended: ENDED }));
    stop();
    stop();
    expect(screen.contents.at(-1)).toBeUndefined();
    expect(screen.statuses.at(-1)).toBeUndefined();
    expect(clock.pending).toBe(0);
    expect(link.listeners).toBe(0);
    expect(clearEnded(link)).toBe(false);
  });

  test("survives a session that is gone already", () => {
    const { screen, link, guard, stop } = widget("rpc");
    screen.broken = true;
    link.show(pictureOf({ runs: [sessionRun()] }));
    stop();
    expect(guard.faults).toHaveLength(2);
  });
});

describe("the footer", () => {
  const holder = { kind: "attached", holder: true } as const;
  const free = { may: true, why: "" };
  const waiting = { present: { messageId: "msg_1", startsTurn: true } };

  test.each([
    [{ kind: "connecting" } as const, "workflow: connecting"],
    [holder, "workflow: ready"],
    [
      { kind: "attached", holder: false } as const,
      "workflow: standby, another Pi shows the steps (/workflow here)",
    ],
    [{ kind: "fenced" } as const, "workflow: taken over by another Pi (/workflow here)"],
    [{ kind: "down", reason: "no host" } as const, "workflow: host down, reconnecting"],
    [{ kind: "unsupported", reason: "Pi 2" } as const, "workflow: Pi 2"],
  ])("of a link that is %j", (state, text) => {
    expect(statusText({ state, picture: undefined, waking: free }, NOW)).toBe(text);
  });

  test("says until when a provider's limit holds steps back, and forgets it then", () => {
    const picture = pictureOf({ heldUntil: ago(-60_000) });
    const held = { state: holder, picture, waking: free };
    expect(statusText(held, NOW)).toMatch(/^workflow: held until \d\d:\d\d:\d\d \(limit/);
    expect(statusText(held, NOW + 60_000)).toBe("workflow: ready");
  });

  test("says what is to be done, and by whom", () => {
    const status = (...runs: SessionRun[]): string | undefined =>
      statusText({ state: holder, picture: pictureOf({ runs }), waking: free }, NOW);
    const asks = (interactionKind: InteractionKind, behind = false): SessionRun =>
      sessionRun(
        { status: RunStatus.WAITING, interactionId: "int_1", interactionKind },
        { behind },
      );
    const question = asks(InteractionKind.CHECKPOINT);
    const step = asks(InteractionKind.AGENT);
    expect(status(step, question)).toBe("workflow: 1 waits for you");
    expect(status(question, sessionRun({ status: RunStatus.BLOCKED }))).toBe(
      "workflow: 2 wait for you",
    );
    expect(status(step, asks(InteractionKind.HUMAN_DECISION, true))).toBe("workflow: working");
    expect(status(sessionRun())).toBe("workflow: working");
    expect(status(sessionRun({ status: RunStatus.PAUSED }))).toBe("workflow: ready");
  });

  test("says that a step waits for the user's turn, and why", () => {
    const waking = { may: false, why: "you stopped the last one" };
    const text = "workflow: waiting for your turn: you stopped the last one";
    expect(statusText({ state: holder, picture: pictureOf(waiting), waking }, NOW)).toBe(text);
    expect(statusText({ state: holder, picture: pictureOf({}), waking }, NOW)).toBe(
      "workflow: ready",
    );
  });

  test("is set when it changes only, and looks again when the limit is over", () => {
    const { screen, link, clock } = widget("rpc");
    link.show(pictureOf({ heldUntil: ago(-60_000) }));
    link.tell();
    clock.advance(61_000);
    expect(screen.statuses).toHaveLength(3);
    expect(screen.statuses.at(-1)).toBe("workflow: ready");
  });
});
