/** Deaths that befall voyages: grouped, dealt to few voyages, and put into environments. */
import type { Voyage } from "./voyage.ts";

/** Of a death, whatever the journeys it is on need to know. */
export interface PointOfDeath<Death> {
  /** As `PI_WORKFLOWS_CRASH` names it. */
  readonly point: string;
  readonly death: Death;
}

export interface Troubled<Death> {
  readonly title: string;
  readonly armed: readonly string[];
  readonly death: Death;
}

export const QUICK = { PI_WORKFLOWS_RENEW_MS: "100" };
/** Hosts that a way needs beside those that die. */
export const HOSTS_SPARE = 4;
/** More deaths than this on one way tell too little about the one that went wrong. */
const DEATHS_MAX = 7;
/** Each death costs the start of a host and of a worker, on a machine that may do much else. */
export const VOYAGE_MS = 300_000;

/** Deaths of the same kind befall one voyage, each once, whenever it comes by their points. */
export function voyagesOf<Death>(
  deaths: readonly PointOfDeath<Death>[],
): readonly Troubled<Death>[] {
  return Object.values(Object.groupBy(deaths, ({ death }) => JSON.stringify(death))).flatMap(
    (alike = []) => dealt(alike, Math.ceil(alike.length / DEATHS_MAX)),
  );
}

/** Dealt like cards, so that neighbours on the way, with no progress between them, are apart. */
function dealt<Death>(
  alike: readonly PointOfDeath<Death>[],
  hands: number,
): readonly Troubled<Death>[] {
  return Array.from({ length: hands }, (_, hand) =>
    alike.filter((_death, index) => index % hands === hand),
  ).flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const armed = own.map(({ point }) => point);
    return [{ title: armed.join(", "), armed, death: first.death }];
  });
}

/** Environment of the n-th host: the first ones live, if it is a later one that is to die. */
export function armedFrom(
  first: number,
  armed: readonly string[],
): (host: number, voyage: Voyage) => Readonly<Record<string, string>> {
  const points = armed.join(",");
  return (host, { project }) =>
    host < first
      ? QUICK
      : { ...QUICK, PI_WORKFLOWS_CRASH: points, PI_WORKFLOWS_CRASH_ONCE: project };
}
