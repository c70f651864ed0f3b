import { describe, expect, test } from "vitest";
import {
  actionOf,
  CONSEQUENCES,
  standingOf,
  turnEndOf,
} from "../../../src/host/operations/turn-consequence.ts";
import type {
  Consequence,
  Standing,
  StandingFacts,
  TurnEnd,
} from "../../../src/host/operations/turn-consequence.ts";
import { holdMs } from "../../../src/host/operations/retry-after.ts";
import { HOLD_MS_MAX } from "../../../src/host/limits.ts";

/** Said a second time, so that no cell changes by accident. */
const TABLE = `
            agent                 reply                 checkpoint            validating replaced closed
completed   remind                take_reply            close                 close      close    close
aborted     pause                 pause                 pause                 pause      pause    close
stopped     close                 close                 close                 close      close    close
limited     hold                  hold                  hold                  close      close    close
failed      retry                 retry                 retry                 close      close    close
lost        show_again            show_again            show_again            close      close    close
joined      show_again_uncounted  show_again_uncounted  show_again_uncounted  close      close    close
`;

const [header = [], ...rows] = TABLE.trim()
  .split("\n")
  .map((line) => line.trim().split(/\s+/));
const CELLS = rows.flatMap(([end = "", ...cells]) =>
  cells.map((cell, index) => [end, header[index] ?? "", cell] as const),
);

describe("the end of a turn", () => {
  test("has a consequence for each way to end and each standing, and for no other", () => {
    const known = Object.entries(CONSEQUENCES).flatMap(([end, row]) =>
      Object.keys(row).map((standing) => `${end} ${standing}`),
    );
    expect(known.toSorted()).toEqual(
      CELLS.map(([end, standing]) => `${end} ${standing}`).toSorted(),
    );
    expect(CELLS).toHaveLength(42);
  });

  test.each(CELLS)("%s while the request is %s means to %s", (end, standing, consequence) => {
    expect(CONSEQUENCES[end as TurnEnd][standing as Standing]).toBe(consequence as Consequence);
  });
});

describe("how a turn ended", () => {
  test.each([
    ["completed", undefined, true, "completed"],
    ["aborted", undefined, true, "aborted"],
    ["stopped", undefined, true, "stopped"],
    ["failed", "other", true, "failed"],
    ["failed", undefined, true, "failed"],
    ["failed", "rate_limit", true, "limited"],
    ["failed", "usage_limit", true, "limited"],
    ["lost", undefined, true, "lost"],
    ["lost", undefined, false, "joined"],
    ["completed", undefined, false, "completed"],
  ] as const)("%s with error %s and a turn of its own: %s gives %s", (outcome, kind, had, end) => {
    expect(turnEndOf(outcome, { errorKind: kind, hadTurn: had })).toBe(end);
  });
});

describe("how a request stands", () => {
  const facts = (change: Partial<StandingFacts> = {}): StandingFacts => ({
    interaction: { kind: "agent", status: "pending" },
    runStatus: "waiting",
    inOrigin: true,
    isNewest: true,
    ...change,
  });

  test.each(["agent", "reply", "checkpoint"] as const)("%s, while it is pending", (kind) => {
    expect(standingOf(facts({ interaction: { kind, status: "pending" } }))).toBe(kind);
  });

  test.each(["queued", "starting", "running"] as const)(
    "validating, whatever is newest, while the run is %s",
    (runStatus) => {
      const interaction = { kind: "agent", status: "validating" } as const;
      expect(standingOf(facts({ interaction, runStatus, isNewest: false }))).toBe("validating");
    },
  );

  test.each(["accepted", "expired", "cancelled"] as const)("closed when it is %s", (status) => {
    const interaction = { kind: "agent", status } as const;
    expect(standingOf(facts({ interaction, runStatus: "queued" }))).toBe("closed");
  });

  test.each(["paused", "blocked"] as const)("closed while the run is %s", (runStatus) => {
    expect(standingOf(facts({ runStatus }))).toBe("closed");
  });

  test.each([
    ["of a result", { interaction: undefined }],
    ["of a run that moved to another session", { inOrigin: false }],
    [
      "of a person's decision",
      { interaction: { kind: "human_decision", status: "pending" } as const },
    ],
  ])("closed for the turn %s", (_name, change) => {
    expect(standingOf(facts(change))).toBe("closed");
  });

  test("replaced when a newer message asks", () => {
    expect(standingOf(facts({ isNewest: false }))).toBe("replaced");
  });
});

describe("how often a request is shown again", () => {
  const counted = (
    modelErrors: number,
    lostTurns: number,
    kind: "agent" | "checkpoint" = "agent",
  ) => ({ kind, modelErrors, lostTurns }) as const;

  test.each([
    [0, 2_000],
    [1, 10_000],
    [2, 30_000],
  ])("after %i failed turns once more, later and later", (modelErrors, delayMs) => {
    expect(actionOf("retry", counted(modelErrors, 1))).toEqual({
      kind: "ask",
      reason: "model_error",
      delayMs,
      counters: { modelErrors: modelErrors + 1, lostTurns: 1 },
    });
  });

  test("a fourth failed turn in a row ends the attempt, and leaves a checkpoint to people", () => {
    expect(actionOf("retry", counted(3, 0))).toEqual({ kind: "fail" });
    expect(actionOf("retry", counted(3, 0, "checkpoint"))).toEqual({ kind: "close" });
  });

  test("two lost turns are made up for, a third in a row needs a person", () => {
    const again = (lostTurns: number) => ({
      kind: "ask",
      reason: "resumed",
      delayMs: 0,
      counters: { modelErrors: 2, lostTurns },
    });
    expect(actionOf("show_again", counted(2, 0))).toEqual(again(1));
    expect(actionOf("show_again", counted(2, 1))).toEqual(again(2));
    expect(actionOf("show_again", counted(2, 2))).toEqual({ kind: "block" });
    expect(actionOf("show_again", counted(2, 2, "checkpoint"))).toEqual({ kind: "close" });
  });

  test("a message that joined the user's own run does not count", () => {
    expect(actionOf("show_again_uncounted", counted(1, 2))).toEqual({
      kind: "ask",
      reason: "resumed",
      delayMs: 0,
      counters: { modelErrors: 1, lostTurns: 2 },
    });
  });
});

describe("for how long a provider holds a session back", () => {
  test("as long as it says, no less than a second and no more than a week", () => {
    expect(holdMs({ retryAfterMs: 7_000 }, 4)).toBe(7_000);
    expect(holdMs({ retryAfterMs: 0 }, 0)).toBe(1_000);
    expect(holdMs({ retryAfterMs: 1e12 }, 0)).toBe(HOLD_MS_MAX);
    expect(holdMs({ retryAfterMs: 1e12 }, 99)).toBe(HOLD_MS_MAX);
  });

  test("longer than the provider says once its word was wrong five times in a row", () => {
    const waits = [4, 5, 6, 10, 99].map((before) => holdMs({ retryAfterMs: 0 }, before));
    expect(waits).toEqual([1_000, 30_000, 60_000, 900_000, 900_000]);
    expect(holdMs({ retryAfterMs: 3_600_000 }, 9)).toBe(3_600_000);
  });

  test("longer with each limit in a row when it says nothing", () => {
    const waits = [0, 1, 2, 3, 4, 5, 6, 99].map((before) => holdMs({}, before));
    expect(waits.map((ms) => ms / 1_000)).toEqual([30, 60, 120, 300, 600, 900, 900, 900]);
  });
});
