// Whatever a process is doing when it dies, its run must end as if nobody had died. So every named
// point is a death here, before and after the COMMIT of every transition, on a whole journey with
// real programs; the client asks again under the same keys.
import { describe, expect, test } from "vitest";
import { CRASH_POINTS } from "../../src/platform/crash-points.ts";
import { JOURNEYS } from "../support/journeys.ts";
import type { JourneyName } from "../support/journeys.ts";
import { pointsOfSource, transitionsOfSource } from "../support/crash-names.ts";
import { once, POINTS, TRANSITIONS, VOYAGES } from "../support/death-table.ts";
import { armedFrom, HOSTS_SPARE, VOYAGE_MS } from "../support/deaths.ts";
import { SESSION_TRANSITIONS } from "../support/session-deaths.ts";
import { endingOf, Voyage } from "../support/voyage.ts";

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
      const marks = armed.map((point) => voyage.markOf(point));
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
