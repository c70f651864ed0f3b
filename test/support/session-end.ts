import { armedFrom } from "./deaths.ts";
import type { Troubled } from "./deaths.ts";
import { fakePiEnvironment } from "./headless-seat.ts";
import { keptOf } from "./kept.ts";
import type { CleanUp } from "./real-host.ts";
import type { SessionDeath } from "./session-deaths.ts";
import { SESSION_JOURNEYS } from "./session-voyage.ts";
import type { SessionJourney, SessionJourneyName } from "./session-voyage.ts";
import { endingOf, Voyage } from "./voyage.ts";
import type { VoyageOptions } from "./voyage.ts";

interface Circumstances {
  readonly voyage: Voyage;
  readonly cleanUp: CleanUp;
  /** The points at which somebody comes to harm. */
  readonly armed: readonly string[];
}

/** A voyage whose hosts come to harm, and whose headless Pis are played. */
export function troubledVoyage(
  { armed, death: { host = 1 } }: Troubled<SessionDeath>,
  options: Pick<VoyageOptions, "cleanUp" | "hostsMax">,
  env: Readonly<Record<string, string>> = {},
): Voyage {
  const arms = armedFrom(host, armed);
  return new Voyage({
    ...options,
    env: (number, self) => ({ ...arms(number, self), ...fakePiEnvironment(self), ...env }),
  });
}

/** What is there at the end of the way, once everybody has come to harm who was to. */
export async function endOf(
  name: SessionJourneyName,
  { voyage, cleanUp, armed }: Circumstances,
): Promise<Pick<SessionJourney, "ending" | "kept">> {
  const runId = await SESSION_JOURNEYS[name].go(voyage, cleanUp);
  await voyage.untilDead(armed.map((point) => voyage.markOf(point)));
  await voyage.expectSound(runId);
  return { ending: endingOf(await voyage.view(runId)), kept: await keptOf(voyage, runId) };
}
