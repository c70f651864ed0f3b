import { ClaimLostError } from "../errors.ts";
import type { ClaimProof, ClaimRecord } from "../records.ts";
import { claimed, control } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { Step } from "./step.ts";

/**
 * Changes a run on behalf of its own worker, whose process the host owns: with
 * the worker's claim while it lives, by taking over when it has lapsed. Refuses
 * as CLAIM_LOST whenever the claim is not the run's newest.
 */
export function asOwner<T>(
  host: HostContext,
  name: string,
  proof: ClaimProof,
  body: (step: Step) => T,
): Promise<T> {
  const claim = host.store.reader.claims.get(proof.runId, proof.generation);
  if (claim === undefined || !isSame(claim, proof) || !hasLapsed(host, claim)) {
    return claimed(host, name, { proof }, (tx, run) => body({ tx, run, at: host.clock.now() }));
  }
  return control(host, name, proof.runId, (tx, run) => {
    // The door has taken the generation that follows the lapsed one, unless somebody else did.
    if (run.generation !== proof.generation + 1) {
      throw new ClaimLostError("generation_changed", proof.runId, proof.generation);
    }
    return body({ tx, run, at: host.clock.now() });
  });
}

function isSame(claim: ClaimRecord, proof: ClaimProof): boolean {
  return claim.workerId === proof.workerId && claim.tokenHash === proof.tokenHash;
}

function hasLapsed(host: HostContext, claim: ClaimRecord): boolean {
  return !claim.released && (claim.epoch !== host.epoch || claim.expiry <= host.leaseNow());
}
