import { ClaimLostError } from "../errors.ts";
import { renewClaim } from "../operations/claims.ts";
import type { Standing } from "./standing.ts";
import { isRunnable } from "./tools.ts";
import type { ActivationTools } from "./tools.ts";

/**
 * Keeps the claim of a worker alive that runs and is quiet; whatever it proposes
 * renews the claim by itself. A stopped process is left to its lease.
 */
export class ClaimRenewal {
  readonly #tools: ActivationTools;
  readonly #standing: Standing;
  readonly #lost: () => void;
  #renewedAt: number;
  #renewing = false;

  constructor(tools: ActivationTools, standing: Standing, lost: () => void) {
    this.#tools = tools;
    this.#standing = standing;
    this.#lost = lost;
    this.#renewedAt = tools.host.clock.monotonic();
  }

  /** Something else has renewed it just now. */
  renewed(): void {
    this.#renewedAt = this.#tools.host.clock.monotonic();
  }

  /** Once a second. */
  tick(): void {
    const { host, settings, probe } = this.#tools;
    if (this.#renewing || host.clock.monotonic() - this.#renewedAt < settings.renewMs) return;
    if (isRunnable(probe, this.#standing.worker.pid)) void this.#renew();
  }

  async #renew(): Promise<void> {
    const { host } = this.#tools;
    const { proof, worker } = this.#standing;
    this.#renewing = true;
    try {
      await renewClaim(host, proof);
      this.renewed();
    } catch (error) {
      // A lost claim is seen in the rows; a full disk may be empty at the next tick.
      if (error instanceof ClaimLostError) this.#lost();
      else {
        const { runId, generation } = proof;
        host.log.warn("claim.not_renewed", { runId, generation, workerId: worker.id, error });
      }
    } finally {
      this.#renewing = false;
    }
  }
}
