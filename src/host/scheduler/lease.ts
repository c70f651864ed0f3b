/** What one tick is worth, however long the host was away before it. */
export const LEASE_TICK_MS = 1_000;

/**
 * The host's own clock for the expiry of claims. It moves by ticks: a machine
 * that slept, a host that was stopped and a store that could not write let no
 * claim run out, because nobody could have renewed it meanwhile.
 */
export interface Lease {
  now(): number;
  /** One second passed; a store that cannot write stands the clock still. */
  tick(stalled: boolean): void;
}

export function createLease(): Lease {
  let now = 0;
  return {
    now: () => now,
    tick: (stalled) => {
      if (!stalled) now += LEASE_TICK_MS;
    },
  };
}
