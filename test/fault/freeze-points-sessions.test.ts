// The same as crash-points-sessions.test.ts with a host that stands still instead of dying: before and
// after the COMMIT of each transition it stops for half a second and then goes on where it was, with
// the Pi that waited for it. Nothing is lost by that, and nothing is there twice.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { crashMark } from "../../src/platform/crash-points.ts";
import { armedFrom, VOYAGE_MS, voyagesOf } from "../support/deaths.ts";
import { FREEZING, thaw } from "../support/freezing.ts";
import { fakePiEnvironment } from "../support/headless-seat.ts";
import { endOf } from "../support/session-end.ts";
import { SESSION_DEATHS } from "../support/session-deaths.ts";
import { SESSION_JOURNEYS } from "../support/session-voyage.ts";
import { Voyage } from "../support/voyage.ts";

describe.concurrent("a host that stands still for a while at", () => {
  test.for(voyagesOf(SESSION_DEATHS))(
    "$title changes nothing",
    { timeout: VOYAGE_MS },
    async ({ armed, death: { on, host = 1 } }, { onTestFinished: cleanUp }) => {
      const arms = armedFrom(host, armed);
      const voyage = new Voyage({
        cleanUp,
        env: (number, self) => ({ ...arms(number, self), ...fakePiEnvironment(self), ...FREEZING }),
      });
      const stood = thaw(voyage, armed, cleanUp);
      const marks = armed.map((point) => join(voyage.project, crashMark(point)));
      const { ending, kept } = SESSION_JOURNEYS[on];
      expect(await endOf(on, { voyage, cleanUp, marks })).toEqual({ ending, kept });
      expect([...stood].toSorted()).toEqual(armed.toSorted());
    },
  );
});
