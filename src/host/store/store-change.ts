import type { WriteEffects } from "./session.ts";

/** What a COMMIT changed, for those who show it. */
export interface StoreChange {
  readonly runIds: readonly string[];
  /** Those of the runs whose status or claim is another now: all that did more than go a step on. */
  readonly turnedRunIds: readonly string[];
  /** Sessions whose messages, turns or own rows changed. */
  readonly sessionIds: readonly string[];
}

/** The part of a write's effects that others may see. */
export type ShownEffects = Pick<WriteEffects, "runIds" | "turnedRunIds" | "sessionIds">;

/** What several writes changed; absent when nobody can see any of it. */
export function changeOf(effects: readonly ShownEffects[]): StoreChange | undefined {
  const runIds = union(effects.map((write) => write.runIds));
  const sessionIds = union(effects.map((write) => write.sessionIds));
  if (runIds.length + sessionIds.length === 0) return undefined;
  const turnedRunIds = union(effects.map((write) => write.turnedRunIds));
  return { runIds, turnedRunIds, sessionIds };
}

function union(sets: readonly ReadonlySet<string>[]): readonly string[] {
  return [...new Set(sets.flatMap((set) => [...set]))];
}
