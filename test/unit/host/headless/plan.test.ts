import { describe, expect, test } from "vitest";
import { planPis } from "../../../../src/host/headless/plan.ts";
import type { EndReason, Plan, SeatView } from "../../../../src/host/headless/plan.ts";
import type { Ask, Standing } from "../../../../src/host/headless/run-facts.ts";

const RULES = {
  places: 2,
  keepMs: 10_000,
  farewellMs: 60_000,
  attachMs: 60_000,
  untouchedMs: 120_000,
};
const NOW = 1_000_000;
const WALL = 1_700_000_000_000;

const ASK: Ask = { interactionId: "int_1", position: 1, dueAt: 0, model: undefined };

function seat(runId: string, view: Partial<SeatView> = {}): SeatView {
  return {
    runId,
    standing: view.ask === undefined ? "moves" : "asks",
    ask: undefined,
    turnOpen: false,
    wantedModel: "",
    process: "none",
    model: "",
    since: NOW,
    deafSince: undefined,
    retryAt: 0,
    ...view,
  };
}

/** A run that waits for a model. */
function asking(runId: string, view: Partial<SeatView> = {}): SeatView {
  return seat(runId, { ask: ASK, ...view });
}

function plan(...seats: readonly SeatView[]): Plan {
  return planPis(seats, RULES, { now: NOW, wallNow: WALL });
}

/** Why the only Pi would end at this moment, and when it would otherwise. */
function fate(view: Partial<SeatView>): EndReason | number | undefined {
  const { end, wakeAt } = plan(seat("run", { process: "up", ...view }));
  return end[0]?.why ?? (wakeAt === undefined ? undefined : wakeAt - NOW);
}

describe("a Pi is started", () => {
  test("for a run whose step waits for a model", () => {
    expect(plan(asking("one")).start).toEqual(["one"]);
  });

  test.each<Standing>(["moves", "rests", "over", "gone"])("for none that %s", (standing) => {
    expect(plan(seat("one", { standing })).start).toEqual([]);
  });

  test("once for a run that has one, and not before that has ended", () => {
    expect(plan(asking("one", { process: "up" })).start).toEqual([]);
    expect(plan(asking("one", { process: "ending" })).start).toEqual([]);
  });

  test("where there is a place, the step that waited longest first", () => {
    const waiting = [3, 1, 2].map((position) =>
      asking(`run ${position}`, { ask: { ...ASK, position } }),
    );
    expect(plan(...waiting).start).toEqual(["run 1", "run 2"]);
    expect(plan(...waiting, asking("busy", { process: "up", turnOpen: true })).start).toEqual([
      "run 1",
    ]);
    // What is on its way out still uses memory.
    const ending = seat("old", { process: "ending" });
    expect(plan(...waiting, ending, { ...ending, runId: "older" }).start).toEqual([]);
  });

  test("when its step is due, and after the pause that a failed start is given", () => {
    const held = plan(asking("one", { ask: { ...ASK, dueAt: WALL + 5_000 } }));
    expect(held).toEqual({ start: [], end: [], wakeAt: NOW + 5_000 });
    const failed = plan(asking("one", { retryAt: NOW + 700 }));
    expect(failed).toEqual({ start: [], end: [], wakeAt: NOW + 700 });
    expect(plan(asking("one", { retryAt: NOW })).start).toEqual(["one"]);
  });
});

describe("a Pi is ended", () => {
  test("at once when its run was cancelled or deleted, whatever it does", () => {
    expect(fate({ standing: "gone", turnOpen: true })).toBe("cancelled");
  });

  test("when nothing is wanted of it any more; a model may finish what it says", () => {
    expect(fate({ standing: "over" })).toBe("not needed");
    expect(fate({ standing: "over", turnOpen: true })).toBe(60_000);
    expect(fate({ standing: "over", turnOpen: true, since: NOW - 60_000 })).toBe("not needed");
  });

  test.each<Standing>(["moves", "rests"])("a while after its step when its run %s", (standing) => {
    expect(fate({ standing })).toBe(10_000);
    expect(fate({ standing, since: NOW - 10_000 })).toBe("not needed");
    // An accepted result does not stop the turn that handed it in.
    expect(fate({ standing, since: NOW - 10_000, turnOpen: true })).toBeUndefined();
  });

  test("to make way for one with the model of the step, between two turns", () => {
    expect(fate({ ...asking("run"), process: "up", wantedModel: "other" })).toBe("another model");
    const busy = { ...asking("run"), process: "up", wantedModel: "other", turnOpen: true } as const;
    expect(fate(busy)).toBeUndefined();
  });

  test("while a provider is waited for, unless that is short", () => {
    const held = (ms: number): Partial<SeatView> => ({
      ...asking("run", { ask: { ...ASK, dueAt: WALL + ms } }),
      process: "up",
    });
    expect(fate(held(10_001))).toBe("provider waited for");
    expect(fate(held(9_000))).toBe(9_000 + 120_000);
  });

  test("when it does not attach, also again, and when it leaves its step untouched", () => {
    const up = { ...asking("run"), process: "up" } as const;
    expect(fate({ ...up, deafSince: NOW })).toBe(60_000);
    expect(fate({ ...up, deafSince: NOW - 60_000 })).toBe("deaf");
    expect(fate({ ...up, deafSince: NOW - 60_000, turnOpen: true })).toBe("deaf");
    expect(fate(up)).toBe(120_000);
    expect(fate({ ...up, since: NOW - 120_000 })).toBe("stuck");
    expect(fate({ ...up, since: NOW - 120_000, turnOpen: true })).toBeUndefined();
  });

  test("when others wait for its place, the one that is kept longest first and no more than needed", () => {
    const kept = (runId: string, ago: number): SeatView =>
      seat(runId, { process: "up", since: NOW - ago });
    const one = plan(asking("new"), kept("a", 1_000), kept("b", 2_000));
    expect(one).toMatchObject({ start: [], end: [{ runId: "b", why: "place needed" }] });
    const busy = seat("b", { process: "up", turnOpen: true });
    expect(plan(asking("new"), kept("a", 1_000), busy).end).toEqual([
      { runId: "a", why: "place needed" },
    ]);
    // One that leaves anyway makes the place.
    const over = seat("b", { process: "up", standing: "over" });
    expect(plan(asking("new"), kept("a", 1_000), over).end).toEqual([
      { runId: "b", why: "not needed" },
    ]);
    expect(plan(asking("new"), kept("a", 1_000), seat("b", { process: "ending" })).end).toEqual([]);
  });
});
