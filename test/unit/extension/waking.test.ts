import { describe, expect, test } from "vitest";
import { INPUT_MS, START_QUIET_MS, WakePolicy } from "../../../src/extension/waking.ts";

const LATER = START_QUIET_MS + 1;
const UNABORTED = { byUser: true, aborted: false };

function policy(severalPrompts = false): WakePolicy {
  return new WakePolicy(0, severalPrompts);
}

function mayWake(waking: WakePolicy, at: number): boolean {
  const { may, why } = waking.view(at);
  expect(may).toBe(why === "");
  return may;
}

describe("after the start of a session", () => {
  test("nothing wakes the model for a second", () => {
    const waking = policy();
    expect(mayWake(waking, START_QUIET_MS - 1)).toBe(false);
    expect(mayWake(waking, START_QUIET_MS)).toBe(true);
    expect(waking.changesIn(200)).toBe(START_QUIET_MS - 200);
    expect(waking.changesIn(START_QUIET_MS)).toBeUndefined();
  });

  test("prompts of a command line follow one another, each with its own second", () => {
    const waking = policy(true);
    waking.runStarted(100);
    expect(mayWake(waking, 60_000)).toBe(false);
    expect(waking.changesIn(60_000)).toBeUndefined();
    waking.settled(60_000, UNABORTED);
    expect(mayWake(waking, 60_500)).toBe(false);
    waking.runStarted(60_500);
    waking.settled(90_000, UNABORTED);
    expect(mayWake(waking, 90_999)).toBe(false);
    expect(mayWake(waking, 91_000)).toBe(true);
  });

  test("a program that drives Pi has no command line of prompts", () => {
    const waking = policy();
    waking.runStarted(100);
    waking.settled(5_000, UNABORTED);
    expect(mayWake(waking, 5_000)).toBe(true);
  });

  test("a run that begins later is not one of the command line", () => {
    const waking = policy(true);
    waking.runStarted(LATER);
    waking.settled(LATER + 10, UNABORTED);
    expect(mayWake(waking, LATER + 10)).toBe(true);
  });
});

describe("after the user stopped the model", () => {
  const stopped = (): WakePolicy => {
    const waking = policy();
    waking.settled(LATER, { byUser: false, aborted: true });
    waking.stopped();
    return waking;
  };

  test("nothing wakes it, and the reason says how to go on", () => {
    const waking = stopped();
    expect(mayWake(waking, 1e9)).toBe(false);
    expect(waking.view(1e9).why).toContain("/workflow resume");
  });

  test("the next turn of the user that ends well allows it", () => {
    const waking = stopped();
    waking.settled(LATER, { byUser: true, aborted: true });
    expect(mayWake(waking, LATER)).toBe(false);
    waking.settled(LATER, { byUser: false, aborted: false });
    expect(mayWake(waking, LATER)).toBe(false);
    waking.settled(LATER, UNABORTED);
    expect(mayWake(waking, LATER)).toBe(true);
  });

  test("the user's wish or a new attachment allows it", () => {
    const waking = stopped();
    waking.allow();
    expect(mayWake(waking, LATER)).toBe(true);
  });
});

test("a move in the session's tree is like a stop", () => {
  const waking = policy();
  waking.treeChanged();
  expect(mayWake(waking, LATER)).toBe(false);
  waking.settled(LATER, UNABORTED);
  expect(mayWake(waking, LATER)).toBe(true);
});

describe("a text that the user has sent", () => {
  test("is pending until its run begins", () => {
    const waking = policy();
    waking.input(LATER);
    expect(waking.inputPending(LATER + 1)).toBe(true);
    waking.runStarted(LATER + 2);
    expect(waking.inputPending(LATER + 3)).toBe(false);
  });

  test("is forgotten after two seconds without a run", () => {
    const waking = policy();
    waking.input(LATER);
    expect(waking.changesIn(LATER)).toBe(INPUT_MS);
    expect(waking.inputPending(LATER + INPUT_MS - 1)).toBe(true);
    expect(waking.inputPending(LATER + INPUT_MS)).toBe(false);
  });
});
