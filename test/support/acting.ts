import type { EffectOutcome } from "../../src/host/operations/effect-rows.ts";
import { resolveEffect } from "../../src/host/operations/effects.ts";
import { isBeingEnded } from "../../src/host/operations/resolve-effect.ts";
import type { Resolution } from "../../src/host/operations/resolve-effect.ts";
import type { CommandResult } from "../../src/host/store/doors.ts";
import { TestRig } from "./test-host.ts";
import type { TestWorker } from "./test-worker.ts";

export interface Acting {
  readonly rig: TestRig;
  readonly worker: TestWorker;
  readonly effectId: string;
}

/** A worker that may act under the effect of the node. */
export async function acting(node: string): Promise<Acting> {
  const rig = new TestRig();
  const worker = await rig.running(node);
  const grant = await worker.act();
  if (grant.kind !== "apply") throw new Error(`the first grant is ${grant.kind}`);
  return { rig, worker, effectId: grant.effectId };
}

export function applied(effectId: string, receiptJson = '{"id":1}'): EffectOutcome {
  return { effectId, kind: "applied", receiptJson };
}

/** A person says what became of the effect, when what applied it is gone. */
export async function settle(
  { rig, effectId }: Pick<Acting, "rig" | "effectId">,
  resolution: Resolution,
  outputJson?: string,
): Promise<CommandResult> {
  const runId = rig.reader.effects.get(effectId)?.runId ?? "";
  if (isBeingEnded(rig.reader, runId)) await exitAll(rig, runId);
  const request = { effectId, resolution, ...(outputJson === undefined ? {} : { outputJson }) };
  return rig.sound(resolveEffect(rig.host, rig.asked("ResolveEffect"), request));
}

/** All processes of the run are confirmed gone. */
export async function exitAll(rig: TestRig, runId: string): Promise<void> {
  for (const { workerId } of rig.reader.workers.ofRun(runId)) await rig.exit(workerId);
}
