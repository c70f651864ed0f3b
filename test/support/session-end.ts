import { keptOf } from "./kept.ts";
import type { CleanUp } from "./real-host.ts";
import { SESSION_JOURNEYS } from "./session-voyage.ts";
import type { SessionJourney, SessionJourneyName } from "./session-voyage.ts";
import { endingOf } from "./voyage.ts";
import type { Voyage } from "./voyage.ts";

interface Circumstances {
  readonly voyage: Voyage;
  readonly cleanUp: CleanUp;
  /** Files that those leave who come by their points. */
  readonly marks: readonly string[];
}

/** What is there at the end of the way, once everybody has come to harm who was to. */
export async function endOf(
  name: SessionJourneyName,
  { voyage, cleanUp, marks }: Circumstances,
): Promise<Pick<SessionJourney, "ending" | "kept">> {
  const runId = await SESSION_JOURNEYS[name].go(voyage, cleanUp);
  await voyage.untilDead(marks);
  await voyage.expectSound(runId);
  return { ending: endingOf(await voyage.view(runId)), kept: await keptOf(voyage, runId) };
}
