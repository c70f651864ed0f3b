// The same as crash-points-sessions.test.ts with a host that stands still instead of dying: before and
// after the COMMIT of each transition it stops for half a second and then goes on where it was, with
// the Pi that waited for it. Nothing is lost by that, and nothing is there twice.
import { describe, expect, test } from "vitest";
import { VOYAGE_MS, voyagesOf } from "../support/deaths.ts";
import { FREEZING, thaw } from "../support/freezing.ts";
import { endOf, troubledVoyage } from "../support/session-end.ts";
import { SESSION_DEATHS } from "../support/session-deaths.ts";
import { SESSION_JOURNEYS } from "../support/session-voyage.ts";

describe.concurrent("a host that stands still for a while at", () => {
  test.for(voyagesOf(SESSION_DEATHS))(
    "$title changes nothing",
    { timeout: VOYAGE_MS },
    async (trouble, { onTestFinished: cleanUp }) => {
      const { armed, death } = trouble;
      const voyage = troubledVoyage(trouble, { cleanUp }, FREEZING);
      const stood = thaw(voyage, armed, cleanUp);
      const { ending, kept } = SESSION_JOURNEYS[death.on];
      expect(await endOf(death.on, { voyage, cleanUp, armed })).toEqual({ ending, kept });
      expect([...stood].toSorted()).toEqual(armed.toSorted());
    },
  );
});
