import { describe, expect, test } from "vitest";
import { HostError } from "../../../src/host/errors.ts";
import { attemptLifecycle } from "../../../src/host/lifecycle/attempt.ts";
import { effectLifecycle } from "../../../src/host/lifecycle/effect.ts";
import { interactionLifecycle } from "../../../src/host/lifecycle/interaction.ts";
import type { Lifecycle } from "../../../src/host/lifecycle/lifecycle.ts";
import { messageLifecycle } from "../../../src/host/lifecycle/message.ts";
import { runLifecycle } from "../../../src/host/lifecycle/run.ts";
import { sessionLifecycle } from "../../../src/host/lifecycle/session.ts";
import { submissionLifecycle } from "../../../src/host/lifecycle/submission.ts";
import { turnLifecycle } from "../../../src/host/lifecycle/turn.ts";

/**
 * Every status × every event, written down a second time and by hand: a change
 * of a table must be meant twice. What is not listed must be refused.
 */
const EXPECTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  run: {
    "queued launch": "starting",
    "queued reject": "waiting",
    "queued pause": "paused",
    "queued block": "blocked",
    "queued cancel": "cancelled",
    "starting attach": "running",
    "starting reject": "waiting",
    "starting interrupt": "queued",
    "starting pause": "paused",
    "starting block": "blocked",
    "starting cancel": "cancelled",
    "running advance": "running paused",
    "running finish": "completed failed timed_out",
    "running wait": "waiting paused",
    "running reject": "waiting",
    "running interrupt": "queued paused",
    "running verdict": "queued paused",
    "running pause": "paused running",
    "running resume": "running",
    "running block": "blocked",
    "running cancel": "cancelled",
    "waiting settle": "queued",
    "waiting validate": "queued",
    "waiting block": "blocked",
    "waiting pause": "paused",
    "waiting cancel": "cancelled",
    "paused resume": "queued waiting",
    "paused block": "blocked",
    "paused cancel": "cancelled",
    "blocked resume": "queued waiting",
    "blocked resolve": "queued",
    "blocked cancel": "cancelled",
  },
  attempt: {
    "running park": "waiting",
    "running succeed": "ok",
    "running fail": "failed",
    "running time_out": "timed_out",
    "running interrupt": "interrupted",
    "running cancel": "cancelled",
    "waiting succeed": "ok",
    "waiting fail": "failed",
    "waiting time_out": "timed_out",
    "waiting interrupt": "interrupted",
    "waiting cancel": "cancelled",
  },
  effect: {
    "pending begin": "applying",
    "pending lose": "ambiguous",
    "pending cancel": "cancelled",
    "applying apply": "applied",
    "applying reject": "rejected",
    "applying lose": "pending ambiguous",
    "applied reopen": "pending",
    "rejected reopen": "pending",
    "ambiguous reopen": "pending",
    "ambiguous resolve_applied": "applied",
    "ambiguous resolve_not_applied": "rejected",
  },
  interaction: {
    "pending submit": "validating",
    "pending accept": "accepted",
    "pending expire": "expired",
    "pending cancel": "cancelled",
    "validating accept": "accepted",
    "validating reject": "pending",
    "validating cancel": "cancelled",
  },
  submission: {
    "validating accept": "accepted",
    "validating reject": "rejected",
  },
  message: {
    "pending offer": "offered",
    "pending cancel": "cancelled",
    "offered see": "delivered",
    "offered cancel": "cancelled",
    "delivered supersede": "superseded",
  },
  turn: {
    "open complete": "completed",
    "open abort": "aborted",
    "open stop": "stopped",
    "open fail": "failed",
    "open lose": "lost",
  },
  session: {
    "detached attach": "attached",
    "attached take_over": "attached",
    "attached detach": "detached",
  },
};

/** Statuses in which nothing is open any more. */
const SETTLED: Readonly<Record<string, readonly string[]>> = {
  run: ["completed", "failed", "timed_out", "cancelled"],
  attempt: ["ok", "failed", "timed_out", "interrupted", "cancelled"],
  effect: ["applied", "rejected", "cancelled"],
  interaction: ["accepted", "expired", "cancelled"],
  submission: ["accepted", "rejected"],
  message: ["delivered", "cancelled", "superseded"],
  turn: ["completed", "aborted", "stopped", "failed", "lost"],
  session: ["detached"],
};

/** The tables differ in their words only; a test that walks all of them needs none of the types. */
type AnyLifecycle = Lifecycle<string, string>;
const LIFECYCLES = [
  runLifecycle,
  attemptLifecycle,
  effectLifecycle,
  interactionLifecycle,
  submissionLifecycle,
  messageLifecycle,
  turnLifecycle,
  sessionLifecycle,
].map((lifecycle) => lifecycle as unknown as AnyLifecycle);

describe.each(LIFECYCLES.map((lifecycle) => [lifecycle.noun, lifecycle] as const))(
  "the life of a %s",
  (noun, lifecycle) => {
    const cells = lifecycle.statuses.flatMap((from) =>
      eventsOf(lifecycle).map((event) => [from, event] as const),
    );

    test.each(cells)("in status %s takes %s as the table says", (from, event) => {
      const allowed = EXPECTED[noun]?.[`${from} ${event}`]?.split(" ") ?? [];
      expect(lifecycle.allows(from, event)).toBe(allowed.length > 0);
      for (const to of lifecycle.statuses) {
        const moved = attempt(() => lifecycle.next(from, event, to));
        expect(moved).toBe(allowed.includes(to) ? to : "ILLEGAL_TRANSITION");
      }
      const only = allowed.length === 1 ? allowed[0] : "ILLEGAL_TRANSITION";
      expect(attempt(() => lifecycle.next(from, event))).toBe(only);
    });

    test.each(lifecycle.statuses)("reaches a settled status from %s", (from) => {
      const settled = SETTLED[noun] ?? [];
      expect(reachable(lifecycle, from).filter((status) => settled.includes(status))).not.toEqual(
        [],
      );
    });

    test("has no word that is never used", () => {
      const used = new Set(cells.filter(([from, event]) => lifecycle.allows(from, event)).flat());
      const targets = new Set(lifecycle.statuses.flatMap((from) => reachable(lifecycle, from)));
      expect(eventsOf(lifecycle).filter((event) => !used.has(event))).toEqual([]);
      expect(lifecycle.statuses.filter((status) => !targets.has(status))).toEqual([]);
    });
  },
);

describe("a status that no event leaves", () => {
  test("is final, and only such a one", () => {
    const finals = LIFECYCLES.map(({ statuses, isFinal }) => statuses.filter(isFinal));
    expect(finals).toEqual([
      ["completed", "failed", "timed_out", "cancelled"],
      ["ok", "failed", "timed_out", "interrupted", "cancelled"],
      ["cancelled"],
      ["accepted", "expired", "cancelled"],
      ["accepted", "rejected"],
      ["cancelled", "superseded"],
      ["completed", "aborted", "stopped", "failed", "lost"],
      [],
    ]);
  });
});

describe("a move that the table does not hold", () => {
  test("is refused in words, with the status that forbids it", () => {
    const error = thrown(() => runLifecycle.next("paused", "launch"));
    expect(error.message).toBe("a paused run cannot be launched");
    expect(error.details.state).toBe("paused");
    const hopeless = thrown(() => runLifecycle.next("failed", "pause", "paused"));
    expect(hopeless.message).toBe("a failed run cannot be paused");
    const chosen = thrown(() => runLifecycle.next("running", "wait", "queued"));
    expect(chosen.message).toBe("a running run cannot be parked to become queued");
  });
});

function eventsOf(lifecycle: AnyLifecycle): readonly string[] {
  const rows = Object.values(lifecycle.table);
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** Every status that some sequence of events leads to, the first included. */
function reachable(lifecycle: AnyLifecycle, from: string): readonly string[] {
  const seen = new Set([from]);
  for (const status of seen) {
    for (const targets of Object.values(lifecycle.table[status] ?? {})) {
      for (const target of targets ?? []) seen.add(target);
    }
  }
  return [...seen];
}

function attempt(move: () => string): string {
  try {
    return move();
  } catch (error) {
    if (error instanceof HostError) return error.reason;
    throw error;
  }
}

function thrown(move: () => unknown): HostError {
  try {
    move();
  } catch (error) {
    if (error instanceof HostError) return error;
  }
  throw new Error("nothing was refused");
}
