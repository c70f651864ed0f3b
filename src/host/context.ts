import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Store } from "./store/store.ts";

/** What every operation needs of the host it runs in. */
export interface HostContext {
  readonly store: Store;
  readonly clock: Clock;
  /** Fencing number of this host process. */
  readonly epoch: number;
  /** Lease time: the host's own clock for the expiry of claims (state.md, "Words"). */
  leaseNow(): number;
  readonly settings: { readonly claimMs: number };
  readonly log: Log;
}
