import { HostError } from "../../src/host/errors.ts";
import type { Store } from "../../src/host/store/store.ts";

/** A real store that a test can make full, or slow. */
export interface TroubledStore extends Store {
  /** While set, every write is refused so and nothing is stored. */
  trouble: "STORAGE_FULL" | "STORAGE_FAILED" | undefined;
  /** While set, writes wait for it. */
  hold: Promise<void> | undefined;
  /** Names of all writes that were asked for. */
  readonly asked: readonly string[];
}

export function troubled(store: Store): TroubledStore {
  const asked: string[] = [];
  return {
    trouble: undefined,
    hold: undefined,
    asked,
    reader: store.reader,
    storeId: store.storeId,
    get stalled() {
      return this.trouble !== undefined || store.stalled;
    },
    async write(name, body) {
      asked.push(name);
      if (this.hold !== undefined) await this.hold;
      if (this.trouble !== undefined) throw new HostError(this.trouble, "there is no space left");
      return await store.write(name, body);
    },
    subscribe: (listener) => store.subscribe(listener),
    beforeCommit: (listener) => store.beforeCommit(listener),
    sizes: () => store.sizes(),
    checkIdentity: () => store.checkIdentity(),
    backup: (path) => store.backup(path),
    maintain: () => store.maintain(),
    close: () => store.close(),
  };
}
