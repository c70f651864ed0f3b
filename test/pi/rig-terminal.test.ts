/** The terminal of the rig: Pi on a screen, driven by keys. */
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { startMockModel } from "../support/pi/mock-model.ts";
import type { MockModel } from "../support/pi/mock-model.ts";
import { newPiProfile } from "../support/pi/pi-profile.ts";
import { startTui, terminalMissing } from "../support/pi/pi-tui.ts";
import type { Tui, TuiOptions } from "../support/pi/pi-tui.ts";

const EXTENSION = join(import.meta.dirname, "../fixtures/pi-extensions/rig.ts");
const missing = terminalMissing();
if (missing !== undefined) console.warn(`the tests in a terminal are skipped: ${missing}`);

describe.skipIf(missing !== undefined)("in a terminal", () => {
  let model: MockModel;

  beforeEach(async (context) => {
    model = await startMockModel((end) => context.onTestFinished(end));
  });

  async function terminal(options: Partial<TuiOptions> = {}): Promise<Tui> {
    const profile = newPiProfile({ model });
    return await startTui({ profile, extensions: [EXTENSION], ready: "rig startup", ...options });
  }

  test("Pi starts, answers, shows the widget of an extension and quits", async () => {
    const tui = await terminal();
    expect(tui.screen()).toContain("rig widget in tui");
    await tui.say("hello");
    await tui.sees("echo: hello");
    expect(await tui.quit()).toBe(0);
  });

  test("a command is sent in spite of its completions", async () => {
    const tui = await terminal();
    await tui.say("/wake first");
    await tui.sees("echo: news first");
    expect(tui.editor()).toBe("");
    expect(await tui.quit()).toBe(0);
  });

  test("Escape ends an answer that is held", async () => {
    const tui = await terminal();
    await tui.say('#mock [{"hold":"for ever","text":"half"}]');
    await model.held("for ever");
    tui.press("Escape");
    await tui.sees("aborted");
    expect(await tui.quit()).toBe(0);
  });

  test("a dialog is answered with keys", async () => {
    const tui = await terminal();
    await tui.say('#mock [{"tool":"rig_ask","args":{"question":"Where to?"}},"fine"]');
    await tui.sees(/^\W*left\s*$/m);
    tui.press("Down", "Enter");
    const { last } = await model.request(({ number }) => number === 2);
    expect(last.text).toBe("chosen: right");
    await tui.sees(/^ *fine\s*$/m);
    expect(await tui.quit()).toBe(0);
  });

  test("a Pi that cannot start is read from its screen", async () => {
    const tui = await terminal({ args: ["--no-such-flag"], ready: "PI-EXIT" });
    expect(await tui.exitCode()).toBe(1);
    expect(tui.screen()).toContain("no-such-flag");
  });
});
