// The same as crash-points.test.ts with a process that stands still instead of dying: at each point it
// stops for longer than a lease and then goes on, as if nothing had been. A worker is replaced
// meanwhile and hears so; a host goes on where it was, with everybody who waited for it.
import { describe, expect, test } from "vitest";
import { once, VOYAGES } from "../support/death-table.ts";
import { armedFrom, VOYAGE_MS } from "../support/deaths.ts";
import { FREEZING, thaw } from "../support/freezing.ts";
import { JOURNEYS } from "../support/journeys.ts";
import { endingOf, Voyage } from "../support/voyage.ts";

const SHORT_LEASE = { PI_WORKFLOWS_CLAIM_MS: "3000", ...FREEZING };

describe.concurrent("a process that stands still for a while at", () => {
  test.for(VOYAGES)(
    "$title changes nothing",
    { timeout: VOYAGE_MS },
    async ({ armed, death }, { onTestFinished: cleanUp }) => {
      const { on, host = 1, mayRepeat = [] } = death;
      const arms = armedFrom(host, armed);
      const voyage = new Voyage({
        cleanUp,
        env: (number, self) => ({ ...arms(number, self), ...SHORT_LEASE }),
      });
      const stood = thaw(voyage, armed, cleanUp);
      const marks = armed.map((point) => voyage.markOf(point));
      const runId = await JOURNEYS[on].go(voyage, marks);
      await voyage.untilDead(marks);
      await voyage.expectSound(runId);
      expect([...stood].toSorted()).toEqual(armed.toSorted());
      expect(endingOf(await voyage.view(runId))).toEqual(JOURNEYS[on].ending);
      const effects = voyage.effects(runId);
      for (const key of mayRepeat) effects[key] = once(effects[key], armed.length + 1);
      expect(effects).toEqual(JOURNEYS[on].effects);
    },
  );
});
