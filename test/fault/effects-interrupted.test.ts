// Somebody pauses, cancels or stops while an effect happens outside: it is waited for where that can
// be, and where it cannot, what became of it is asked and never guessed.
import { describe, expect, test, vi } from "vitest";
import { isRejectedFor } from "../../src/client/rejection.ts";
import { EffectStatus } from "../../src/gen/piworkflows/common/v1/effect_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { Resolution } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { useEffects } from "../support/effect-rig.ts";
import { PATIENCE_MS } from "../support/voyage.ts";

const rig = useEffects();

describe("while an effect is being applied", () => {
  test.each(["plain", "manual"])("a pause waits for it (%s)", async (node) => {
    const runId = await rig.acting(node);
    await rig.pause(runId);
    expect((await rig.voyage.view(runId)).summary).toMatchObject({
      status: RunStatus.RUNNING,
      pauseRequested: true,
    });
    rig.outside.release();
    const paused = await rig.voyage.untilStatus(runId, RunStatus.PAUSED);
    expect(paused.attempts.map(({ node: at }) => at)).toEqual(["choose", node]);
    await rig.resume(runId);
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "ok", attempt: 1 });
    expect(rig.outside.commits).toEqual([ended.effect.key]);
  });

  test("a pause can be taken back", async () => {
    const runId = await rig.acting("manual");
    await rig.pause(runId);
    await rig.resume(runId);
    rig.outside.release();
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "ok", attempt: 1 });
    expect((await rig.voyage.events(runId)).map(({ kind }) => kind)).not.toContain("pause");
  });

  test("pause --now gives an idempotent one up, and resume applies it again", async () => {
    const runId = await rig.acting("plain");
    await rig.pause(runId, true);
    await rig.voyage.untilStatus(runId, RunStatus.PAUSED);
    rig.outside.release();
    await rig.resume(runId);
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "ok", attempt: 2 });
    expect(rig.outside.commits).toEqual(Array(2).fill(ended.effect.key));
  });

  test("pause --now makes a manual one ambiguous, and resume waits for a person", async () => {
    const runId = await rig.acting("manual");
    await rig.pause(runId, true);
    await rig.voyage.untilStatus(runId, RunStatus.PAUSED);
    rig.outside.release();
    const refusal = await rig.resume(runId).then(String, (error: unknown) => error);
    expect(isRejectedFor(refusal, Reason.EFFECT_AMBIGUOUS)).toBe(true);
    await rig.resolve(runId, Resolution.APPLIED, "paid");
    await rig.resume(runId);
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "ok", output: "paid" });
    expect(rig.outside.commits).toEqual([ended.effect.key]);
  });

  test.each(["plain", "manual"])(
    "cancel leaves it ambiguous and the run ended (%s)",
    async (node) => {
      const runId = await rig.acting(node);
      await rig.cancel(runId);
      rig.outside.release();
      expect(await rig.effectOf(runId)).toMatchObject({ status: EffectStatus.AMBIGUOUS });
      await rig.resolve(runId, Resolution.APPLIED);
      expect((await rig.voyage.view(runId)).summary?.status).toBe(RunStatus.CANCELLED);
      expect(await rig.effectOf(runId)).toMatchObject({ status: EffectStatus.APPLIED });
      await rig.voyage.expectSound(runId);
      expect(rig.outside.commits).toHaveLength(1);
    },
  );

  test("a stop of the host waits for it, and it is not applied again", async () => {
    const runId = await rig.acting("manual");
    const host = await rig.voyage.host();
    await host.host.shutdown({});
    await vi.waitUntil(
      () => host.log().some(({ event }) => event === "host.stopping"),
      PATIENCE_MS,
    );
    rig.outside.release();
    expect(await host.exited).toMatchObject({ code: 0 });
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "ok", output: "committed", attempt: 1 });
    expect(rig.outside.commits).toEqual([ended.effect.key]);
  });

  test("a stop of the host that does not wait leaves it to a person", async () => {
    const runId = await rig.acting("manual");
    const host = await rig.voyage.host();
    await host.host.shutdown({ now: true });
    expect(await host.exited).toMatchObject({ code: 0 });
    rig.outside.release();
    await rig.voyage.untilStatus(runId, RunStatus.BLOCKED);
    await rig.resolve(runId, Resolution.APPLIED, "paid");
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "ok", output: "paid" });
    expect(rig.outside.commits).toHaveLength(1);
  });
});
