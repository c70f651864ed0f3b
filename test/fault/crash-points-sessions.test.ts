// The same as crash-points.test.ts for what joins runs to Pi sessions: the host dies before and
// after the COMMIT of each of their transitions; the Pi attaches to the next one, tells all that it
// knows again and repeats its calls. Nothing is lost by that, and nothing is there twice.
import { describe, expect, test } from "vitest";
import { HOSTS_SPARE, QUICK, VOYAGE_MS, voyagesOf } from "../support/deaths.ts";
import { fakePiEnvironment } from "../support/headless-seat.ts";
import { endOf, troubledVoyage } from "../support/session-end.ts";
import { SESSION_DEATHS } from "../support/session-deaths.ts";
import { SESSION_JOURNEYS } from "../support/session-voyage.ts";
import type { SessionJourneyName } from "../support/session-voyage.ts";
import { Voyage } from "../support/voyage.ts";

describe.concurrent("undisturbed", () => {
  // The names are the table's own keys.
  const names = Object.keys(SESSION_JOURNEYS) as SessionJourneyName[];
  test.for(names)("%s ends as it should", async (name, { onTestFinished: cleanUp }) => {
    const voyage = new Voyage({
      cleanUp,
      env: (_host, self) => ({ ...QUICK, ...fakePiEnvironment(self) }),
    });
    const { ending, kept } = SESSION_JOURNEYS[name];
    expect(await endOf(name, { voyage, cleanUp, armed: [] })).toEqual({ ending, kept });
  });
});

describe.concurrent("a death at", () => {
  test.for(voyagesOf(SESSION_DEATHS))(
    "$title changes nothing",
    { timeout: VOYAGE_MS },
    async (trouble, { onTestFinished: cleanUp }) => {
      const { armed, death } = trouble;
      const voyage = troubledVoyage(trouble, { cleanUp, hostsMax: armed.length + HOSTS_SPARE });
      const { ending, kept } = SESSION_JOURNEYS[death.on];
      expect(await endOf(death.on, { voyage, cleanUp, armed })).toEqual({ ending, kept });
    },
  );
});
