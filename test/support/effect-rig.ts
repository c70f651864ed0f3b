/** Runs with one effect each, against a service outside, on one host for a whole test file. */
import type { JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, vi } from "vitest";
import { toValue } from "../../src/cli/values.ts";
import { valueJson } from "../../src/client/json-value.ts";
import { EffectStatus } from "../../src/gen/piworkflows/common/v1/effect_pb.ts";
import type { Effect } from "../../src/gen/piworkflows/common/v1/effect_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { RunView } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { Resolution } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { startRun } from "./journeys.ts";
import { OutsideService } from "./outside-service.ts";
import { PATIENCE_MS, Voyage } from "./voyage.ts";

export interface Ended {
  readonly view: RunView;
  readonly result: JsonValue;
  readonly effect: Effect;
}

export interface EffectRig {
  readonly voyage: Voyage;
  readonly outside: OutsideService;
  start(node: string, input?: Readonly<Record<string, JsonValue>>): Promise<string>;
  /** A run whose effect has happened and whose reply is held back. */
  acting(node: string): Promise<string>;
  committed(count: number): Promise<void>;
  killWorker(runId: string): Promise<void>;
  pause(runId: string, now?: boolean): Promise<void>;
  resume(runId: string): Promise<void>;
  cancel(runId: string): Promise<void>;
  effectOf(runId: string): Promise<Effect>;
  /** A person says what became of the run's ambiguous effect. */
  resolve(runId: string, resolution: Resolution, output?: JsonValue): Promise<Effect>;
  /** Each run ends completed, because its graph routes every outcome, and leaves a sound state. */
  end(runId: string): Promise<Ended>;
}

/** To be called once in a test file: the rig of its tests. */
export function useEffects(): EffectRig {
  const cleanUps: (() => Promise<void> | void)[] = [];
  const outside = new OutsideService();
  let voyage: Voyage | undefined;
  beforeAll(async () => {
    await outside.open();
    cleanUps.push(() => outside.close());
    const env = () => ({ PI_WORKFLOWS_VERDICT_GRACE_MS: "100" });
    voyage = new Voyage({ cleanUp: (run) => cleanUps.push(run), env });
  });
  beforeEach(() => {
    outside.release();
    outside.commits.length = 0;
    outside.mostAtOnce = 0;
  });
  afterAll(async () => {
    for (const run of cleanUps.toReversed()) await run();
  });
  return rigOver(outside, () => {
    if (voyage === undefined) throw new Error("the rig is used outside its tests");
    return voyage;
  });
}

function rigOver(outside: OutsideService, current: () => Voyage): EffectRig {
  let commands = 0;
  const key = (verb: string): string => `${verb} ${(commands += 1)}`;
  const rig: EffectRig = {
    get voyage() {
      return current();
    },
    outside,
    start: (node, input = {}) =>
      startRun(current(), key("start"), "posts", { url: outside.url, node, ...input }),
    async acting(node) {
      outside.mood = "hold";
      const runId = await rig.start(node);
      await rig.committed(1);
      return runId;
    },
    async committed(count) {
      await vi.waitUntil(() => outside.commits.length === count, PATIENCE_MS);
    },
    async killWorker(runId) {
      const { worker } = await current().view(runId);
      process.kill(worker?.pid ?? 0, "SIGKILL");
    },
    async pause(runId, now = false) {
      await current().command(key("pause"), ({ runs }, command) =>
        runs.pauseRun({ command, runId, now }),
      );
    },
    async resume(runId) {
      await current().command(key("resume"), ({ runs }, command) =>
        runs.resumeRun({ command, runId }),
      );
    },
    async cancel(runId) {
      await current().command(key("cancel"), ({ runs }, command) =>
        runs.cancelRun({ command, runId }),
      );
    },
    effectOf: (runId) => onlyEffect(current(), runId),
    async resolve(runId, resolution, output = null) {
      const effect = await rig.effectOf(runId);
      expect(effect.status).toBe(EffectStatus.AMBIGUOUS);
      const request = { effectId: effect.effectId, resolution, output: toValue("output", output) };
      const named = key("resolve");
      await vi.waitFor(
        () =>
          current().command(named, (host, command) =>
            host.effects.resolveEffect({ ...request, command }),
          ),
        // Refused until what applied it is confirmed gone.
        { timeout: 30_000, interval: 50 },
      );
      return effect;
    },
    async end(runId) {
      const view = await current().untilStatus(runId, RunStatus.COMPLETED);
      await current().expectSound(runId);
      const effect = await rig.effectOf(runId);
      expect(effect.key).toMatch(new RegExp(`^${runId}:\\w+:\\w+:1$`));
      return { view, result: valueJson(view.result), effect };
    },
  };
  return rig;
}

async function onlyEffect(voyage: Voyage, runId: string): Promise<Effect> {
  const { effects } = await voyage.ask((host) => host.effects.listEffects({ runId }));
  expect(effects).toHaveLength(1);
  const [effect] = effects;
  if (effect === undefined) throw new Error("a run without an effect");
  return effect;
}
