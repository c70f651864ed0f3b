import type { WriteEffects } from "./session.ts";

/** What a COMMIT changed, for those who show it. */
export interface StoreChange {
  readonly runIds: readonly string[];
  /** Sessions whose messages, turns or own rows changed. */
  readonly sessionIds: readonly string[];
}

/** What several writes changed; absent when nobody can see any of it. */
export function changeOf(
  effects: readonly Pick<WriteEffects, "runIds" | "sessionIds">[],
): StoreChange | undefined {
  const runIds = new Set(effects.flatMap((write) => [...write.runIds]));
  const sessionIds = new Set(effects.flatMap((write) => [...write.sessionIds]));
  if (runIds.size + sessionIds.size === 0) return undefined;
  return { runIds: [...runIds], sessionIds: [...sessionIds] };
}
