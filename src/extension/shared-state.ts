/**
 * What has to outlive a session of Pi and a reload of this code: both make a new
 * instance of the extension in the same process. Plain data, so that a newer
 * version of this code can read what an older one left.
 */
import type { TurnFact } from "./turn-facts.ts";

export interface SharedState {
  /** Of a headless run's own Pi; else empty. */
  secret: string;
  /** The session the secret belongs to: the first one. */
  secretSession: string | undefined;
  /** By session: what the host has not confirmed yet. */
  readonly facts: Map<string, TurnFact[]>;
}

const KEY = Symbol.for("pi-workflows.extension");

type Holder = Record<typeof KEY, SharedState | undefined>;

export function sharedState(holder: object = globalThis): SharedState {
  const place = holder as Holder;
  place[KEY] ??= { secret: "", secretSession: undefined, facts: new Map() };
  return place[KEY];
}

/** The facts of a session, in the list that stays. */
export function factsOf(state: SharedState, sessionId: string): TurnFact[] {
  const kept = state.facts.get(sessionId) ?? [];
  state.facts.set(sessionId, kept);
  return kept;
}

/** The secret, for the first session alone. */
export function secretFor(state: SharedState, sessionId: string): string {
  state.secretSession ??= sessionId;
  return state.secretSession === sessionId ? state.secret : "";
}
