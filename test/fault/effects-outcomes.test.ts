// What happens outside cannot be undone, and may happen without anybody hearing of it. Each row of
// the table of effects, against a service that commits and then holds or breaks its reply.
import { describe, expect, test } from "vitest";
import { valueJson } from "../../src/client/json-value.ts";
import { isRejectedFor } from "../../src/client/rejection.ts";
import { EffectStatus } from "../../src/gen/piworkflows/common/v1/effect_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { BlockReason, RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { Resolution } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { useEffects } from "../support/effect-rig.ts";

const rig = useEffects();

describe("an effect whose outcome is known", () => {
  test("is applied when the code returns", async () => {
    const ended = await rig.end(await rig.start("plain"));
    expect(ended).toMatchObject({ result: { outcome: "ok", output: "committed", attempt: 1 } });
    expect(ended.effect).toMatchObject({ status: EffectStatus.APPLIED, applications: 1 });
    expect(rig.outside.commits).toEqual([ended.effect.key]);
  });

  test("is rejected when the code throws, and fails its attempt", async () => {
    const ended = await rig.end(await rig.start("plain", { throws: "error" }));
    expect(ended.result).toMatchObject({ outcome: "failed", error: "Error", attempt: 1 });
    expect(ended.effect.status).toBe(EffectStatus.REJECTED);
    expect(ended.effect.detail).toContain("the service said no");
    expect(rig.outside.commits).toEqual([ended.effect.key]);
  });

  test("is tried again under the same key when the node says so", async () => {
    const ended = await rig.end(await rig.start("tries", { throws: "error" }));
    expect(ended.result).toMatchObject({ outcome: "failed", attempt: 3 });
    expect(ended.effect).toMatchObject({ status: EffectStatus.REJECTED, applications: 3 });
    expect(rig.outside.commits).toEqual(Array(3).fill(ended.effect.key));
  });

  test("of a command is applied when it ends by itself, whatever its exit code", async () => {
    const failed = await rig.end(await rig.start("command", { code: 3 }));
    expect(failed.result).toMatchObject({ outcome: "failed", attempt: 1 });
    expect(failed.effect.status).toBe(EffectStatus.APPLIED);
    expect(valueJson(failed.effect.receipt)).toMatchObject({ exitCode: 3, signal: null });
    const tolerated = await rig.end(await rig.start("command", { code: 3, tolerant: true }));
    expect(tolerated.result).toMatchObject({ outcome: "ok", output: 3 });
  });

  test("of a command that cannot be started is rejected", async () => {
    const ended = await rig.end(await rig.start("command", { program: "no-such-program" }));
    expect(ended.result).toMatchObject({ outcome: "failed" });
    expect(ended.effect.status).toBe(EffectStatus.REJECTED);
  });
});

describe("an idempotent effect of unknown outcome", () => {
  test("is applied again under the same key", async () => {
    const ended = await rig.end(await rig.start("plain", { throws: "unknown", times: 1 }));
    expect(ended.result).toMatchObject({ outcome: "ok", output: "committed", attempt: 2 });
    expect(ended.effect).toMatchObject({ status: EffectStatus.APPLIED, applications: 2 });
    expect(rig.outside.commits).toEqual(Array(2).fill(ended.effect.key));
  });

  test("is not applied again when a look outside finds it", async () => {
    const ended = await rig.end(await rig.start("looks", { throws: "unknown", times: 1 }));
    expect(ended.result).toMatchObject({ outcome: "ok", output: "seen" });
    expect(rig.outside.commits).toEqual([ended.effect.key]);
  });

  test("is applied when a look outside does not find it", async () => {
    rig.outside.mood = "lose";
    const runId = await rig.start("looks");
    await rig.voyage.until(runId, ({ attempts }) => attempts.length > 2);
    rig.outside.mood = "reply";
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "ok", output: "committed" });
    expect(rig.outside.commits).toEqual([ended.effect.key]);
  });

  test("is applied again under the same key when its worker was killed", async () => {
    const runId = await rig.acting("plain");
    await rig.killWorker(runId);
    await rig.committed(2);
    rig.outside.release();
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "ok", output: "committed", attempt: 2 });
    expect(rig.outside.commits).toEqual(Array(2).fill(ended.effect.key));
    expect(rig.outside.mostAtOnce).toBe(1);
  });

  test.each([false, true])(
    "is tried again when time runs out, and at last left ambiguous and routed (deaf: %s)",
    async (deaf) => {
      rig.outside.mood = "hold";
      const ended = await rig.end(await rig.start("tries", { timeoutMs: 600, deaf }));
      expect(ended.result).toMatchObject({ outcome: "timed_out", attempt: 3 });
      expect(ended.effect).toMatchObject({ status: EffectStatus.AMBIGUOUS, applications: 3 });
      // On a slow machine an attempt may run out of time before it has reached the service.
      expect(new Set(rig.outside.commits)).toEqual(new Set([ended.effect.key]));
      // No attempt was alive beside the one before it.
      expect(rig.outside.mostAtOnce).toBe(1);
    },
  );
});

describe("a manual effect of unknown outcome", () => {
  const losses: readonly { how: string; lose: () => Promise<string> }[] = [
    { how: "the code says so", lose: () => rig.start("manual", { throws: "unknown" }) },
    {
      how: "the connection broke",
      lose: () => {
        rig.outside.mood = "break";
        return rig.start("manual");
      },
    },
    {
      how: "its time ran out",
      lose: () => {
        rig.outside.mood = "hold";
        return rig.start("manual", { timeoutMs: 300 });
      },
    },
    {
      how: "its time ran out and it did not hear",
      lose: () => {
        rig.outside.mood = "hold";
        return rig.start("manual", { timeoutMs: 300, deaf: true });
      },
    },
    {
      how: "its worker was killed",
      lose: async () => {
        const runId = await rig.acting("manual");
        await rig.killWorker(runId);
        return runId;
      },
    },
    {
      how: "its host was killed",
      lose: async () => {
        const runId = await rig.acting("manual");
        await rig.voyage.leave("kill");
        return runId;
      },
    },
  ];

  test.each(losses)("waits for a person when $how", async ({ lose }) => {
    const runId = await lose();
    const blocked = await rig.voyage.untilStatus(runId, RunStatus.BLOCKED);
    expect(blocked.summary?.blockReason).toBe(BlockReason.EFFECT_AMBIGUOUS);
    const resume = rig.resume(runId);
    const refusal = await resume.then(String, (error: unknown) => error);
    expect(isRejectedFor(refusal, Reason.EFFECT_AMBIGUOUS)).toBe(true);
    rig.outside.release();
    const effect = await rig.resolve(runId, Resolution.APPLIED, "paid");
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "ok", output: "paid" });
    expect(rig.outside.commits).toEqual([effect.key]);
  });

  test("fails its attempt when a person says that it did not happen", async () => {
    const runId = await rig.start("manual", { throws: "unknown" });
    await rig.voyage.untilStatus(runId, RunStatus.BLOCKED);
    await rig.resolve(runId, Resolution.NOT_APPLIED);
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "failed", error: "EffectNotApplied" });
    expect(ended.effect.status).toBe(EffectStatus.REJECTED);
    expect(rig.outside.commits).toHaveLength(1);
  });

  test("is applied again when a person says so, and only then", async () => {
    const runId = await rig.start("manual", { throws: "unknown", times: 1 });
    await rig.voyage.untilStatus(runId, RunStatus.BLOCKED);
    const effect = await rig.resolve(runId, Resolution.RETRY);
    const ended = await rig.end(runId);
    expect(ended.result).toMatchObject({ outcome: "ok", output: "committed" });
    expect(rig.outside.commits).toEqual(Array(2).fill(effect.key));
  });
});
