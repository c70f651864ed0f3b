// Whatever a process is doing when it dies, its run must end as if nobody had died. So every named
// point is a death here, before and after the COMMIT of every transition, on a whole journey with
// real programs; the client asks again under the same keys.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CRASH_POINTS, crashMark } from "../../src/platform/crash-points.ts";
import type { CrashPoint } from "../../src/platform/crash-points.ts";
import { JOURNEYS } from "../support/journeys.ts";
import type { JourneyName } from "../support/journeys.ts";
import { pointsOfSource, transitionsOfSource } from "../support/crash-names.ts";
import { armedFrom, HOSTS_SPARE, VOYAGE_MS, voyagesOf } from "../support/deaths.ts";
import { SESSION_TRANSITIONS } from "../support/session-deaths.ts";
import { endingOf, Voyage } from "../support/voyage.ts";

interface Death {
  readonly on: JourneyName;
  /** Number of the host that dies, when it is not the first. */
  readonly host?: number;
  /** An idempotent effect was being applied: it may be applied a second time under its key. */
  readonly mayRepeat?: readonly string[];
}

const LINE = ["line:write:1"];
const STAMP = ["stamp:stamp:1"];

/** A way on which each transition is committed. */
const TRANSITIONS: Readonly<Record<string, Death>> = {
  StartRun: { on: "travels" },
  AnswerCheckpoint: { on: "travels" },
  PauseRun: { on: "pauses" },
  ResumeRun: { on: "pauses" },
  CancelRun: { on: "cancels" },
  RestartRun: { on: "cancels" },
  ResolveEffect: { on: "charges" },
  Repair: { on: "housekeeping" },
  Prune: { on: "housekeeping" },
  prune: { on: "housekeeping" },
  epoch: { on: "travels" },
  host_stopped: { on: "stopsHost" },
  launch: { on: "travels" },
  attach: { on: "travels" },
  effect_begin: { on: "travels" },
  effect_process: { on: "travels", mayRepeat: STAMP },
  advance: { on: "travels" },
  wait: { on: "travels" },
  settle: { on: "travels" },
  finish: { on: "travels" },
  worker_exit: { on: "travels" },
  progress: { on: "lingers", mayRepeat: LINE },
  renew: { on: "lingers", mayRepeat: LINE },
  interrupt: { on: "losesWorker" },
  verdict: { on: "exits" },
  block: { on: "edited" },
};

/** The other points, each with all that it is told in detail. */
const POINTS: Readonly<Record<CrashPoint, Readonly<Record<string, Death>>>> = {
  "commit.before": TRANSITIONS,
  "commit.after": TRANSITIONS,
  "ack.before": {
    effectBegin: { on: "travels" },
    advance: { on: "travels" },
    interaction: { on: "travels" },
    // A new run is attached as it is launched: the first to ask is the worker that routes the answer.
    ready: { on: "travels" },
    wait: { on: "travels" },
  },
  "spawn.after": { "": { on: "travels" } },
  "effect.performed": { "": { on: "travels", mayRepeat: LINE } },
  "proposal.before": {
    plan: { on: "travels" },
    write: { on: "travels", mayRepeat: LINE },
    stamp: { on: "travels", mayRepeat: STAMP },
    ask: { on: "travels" },
    rest: { on: "travels" },
    done: { on: "travels" },
  },
  "proposal.after": {
    advance: { on: "travels" },
    interaction: { on: "travels" },
    wait: { on: "travels" },
  },
  "recovery.step": {
    reaped: { on: "losesHost", host: 2 },
    interrupted: { on: "losesHost", host: 2 },
    exits_recorded: { on: "losesHost", host: 2 },
    settled: { on: "losesHost", host: 2 },
  },
};

/** Every death, in the order of the points. */
const DEATHS = CRASH_POINTS.flatMap((point) =>
  Object.entries(POINTS[point]).map(([detail, death]) => ({
    point: detail === "" ? point : `${point}:${detail}`,
    death,
  })),
);

const VOYAGES = voyagesOf(DEATHS);

describe("the table of deaths", () => {
  test("has every transition that the host commits", () => {
    // Those of sessions have their own deaths: crash-points-sessions.test.ts.
    const covered = [...Object.keys(TRANSITIONS), ...Object.keys(SESSION_TRANSITIONS)];
    expect(covered.toSorted()).toEqual(transitionsOfSource());
  });

  test("has every point, with every detail that the source names", () => {
    expect(Object.keys(POINTS).toSorted()).toEqual([...CRASH_POINTS].toSorted());
    const missing = [...pointsOfSource()].flatMap(([point, details]) =>
      [...details].filter((detail) => POINTS[point][detail] === undefined),
    );
    expect(missing).toEqual([]);
  });
});

describe.concurrent("undisturbed", () => {
  const names = Object.keys(JOURNEYS).filter((name) => name !== "lingers");
  // The names are the table's own keys.
  test.for(names as JourneyName[])("%s ends as it should", async (name, { onTestFinished }) => {
    const voyage = new Voyage({ cleanUp: onTestFinished });
    const runId = await JOURNEYS[name].go(voyage, []);
    await voyage.expectSound(runId);
    expect(endingOf(await voyage.view(runId))).toEqual(JOURNEYS[name].ending);
    expect(voyage.effects(runId)).toEqual(JOURNEYS[name].effects);
  });
});

describe.concurrent("a death at", () => {
  test.for(VOYAGES)(
    "$title changes nothing",
    { timeout: VOYAGE_MS },
    async ({ armed, death }, { onTestFinished }) => {
      const { on, host = 1, mayRepeat = [] } = death;
      const voyage = new Voyage({
        cleanUp: onTestFinished,
        hostsMax: armed.length + HOSTS_SPARE,
        env: armedFrom(host, armed),
      });
      const marks = armed.map((point) => join(voyage.project, crashMark(point)));
      const runId = await JOURNEYS[on].go(voyage, marks);
      await voyage.untilDead(marks);
      await voyage.expectSound(runId);
      expect(endingOf(await voyage.view(runId))).toEqual(JOURNEYS[on].ending);
      const effects = voyage.effects(runId);
      for (const key of mayRepeat) effects[key] = once(effects[key], armed.length + 1);
      expect(effects).toEqual(JOURNEYS[on].effects);
    },
  );
});

/** An allowed number of applications counts as one; none at all is never allowed. */
function once(applied = 0, max: number): number {
  return applied > 0 && applied <= max ? 1 : applied;
}
