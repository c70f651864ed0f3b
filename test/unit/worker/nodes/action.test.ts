import { describe, expect, test, vi } from "vitest";
import type { NodeOutcome } from "../../../../src/worker/nodes/executor.ts";
import { execute } from "../../../../src/worker/nodes/index.ts";
import {
  EffectUnknown,
  HostStoppingError,
  NonRetryableError,
  PausedError,
  TimeoutError,
} from "../../../../src/workflow/errors.ts";
import { action, idempotentEffect, manualEffect } from "../../../../src/workflow/nodes.ts";
import type { ActionOptions } from "../../../../src/workflow/nodes.ts";
import { testContext, testTools } from "../../../support/node-tools.ts";
import type { TestTools } from "../../../support/node-tools.ts";

type Options = ActionOptions<unknown, Readonly<Record<string, unknown>>, unknown>;

function run(options: Options, tools: TestTools = testTools()): Promise<NodeOutcome> {
  return execute(action(options), testContext(tools), tools);
}

const applied = (receiptJson: string): object => ({
  effectId: "eff_1",
  kind: "applied",
  receiptJson,
});

describe("an action", () => {
  test("asks before it acts, and ends with its output as receipt", async () => {
    const tools = testTools();
    const order: string[] = [];
    const beginEffect: TestTools["beginEffect"] = (request) => {
      order.push("begin");
      return tools.beginEffect(request);
    };
    const effect = idempotentEffect("put", { request: () => ({ b: 1, a: 2 }) });
    const outcome = await run(
      { effect, run: (ctx) => order.push(ctx.effect.key) },
      { ...tools, beginEffect },
    );
    expect(order).toEqual(["begin", "run_1:t:n:1"]);
    expect(outcome).toEqual({ kind: "ok", outputJson: "2", effect: applied("2") });
    expect(tools.heard.notes).toEqual(["effect.performed"]);
    expect(tools.heard.effects).toEqual([
      {
        policy: "idempotent",
        type: "put",
        fingerprint: expect.stringMatching(/^[\da-f]{64}$/) as unknown,
        observable: false,
      },
    ]);
  });

  test("has a fingerprint of its request, not of the order in which members were written", async () => {
    const of = async (request: () => unknown): Promise<string | undefined> => {
      const tools = testTools();
      await run({ effect: manualEffect("t", { request }), run: () => 1 }, tools);
      return tools.heard.effects[0]?.fingerprint;
    };
    const first = await of(() => ({ a: 1, b: { c: [1, 2], d: null } }));
    expect(await of(() => ({ b: { d: null, c: [1, 2] }, a: 1 }))).toBe(first);
    expect(await of(() => ({ a: 1, b: { c: [2, 1], d: null } }))).not.toBe(first);
  });

  test("without a declared effect is a manual one of its own path", async () => {
    const tools = testTools();
    await run({ run: () => null }, tools);
    expect(tools.heard.effects[0]).toMatchObject({
      policy: "manual",
      type: "n",
      observable: false,
    });
  });

  test("gets a frozen context and publishes updates as text", async () => {
    const tools = testTools();
    await run(
      {
        run: (ctx) => {
          expect(Object.isFrozen(ctx)).toBe(true);
          expect(() => Object.assign(ctx, { input: 1 })).toThrow(TypeError);
          ctx.publishUpdate("half");
          ctx.publishUpdate({ done: 5 });
          ctx.publishUpdate(1n);
          ctx.publishUpdate("x".repeat(10_000));
        },
      },
      tools,
    );
    const [half, done, odd, long] = tools.heard.updates;
    expect([half, done, odd]).toEqual([
      "half",
      '{"done":5}',
      "[update: BigInt is not JSON; use a string]",
    ]);
    expect(long).toHaveLength(4_097);
  });

  test.each<[string, unknown, boolean]>([
    ["a plain error", new Error("no"), true],
    ["an error that forbids it", new NonRetryableError("no"), false],
    ["null", null, true],
  ])("that throws %s has not done its effect", async (_name, thrown, retryable) => {
    const outcome = await run({
      run: () => {
        throw thrown;
      },
    });
    expect(outcome).toMatchObject({
      kind: "failed",
      retryable,
      effect: { effectId: "eff_1", kind: "rejected" },
    });
  });

  test("that throws EffectUnknown leaves it open what happened", async () => {
    const outcome = await run({ run: () => Promise.reject(new EffectUnknown("connection lost")) });
    expect(outcome).toMatchObject({
      kind: "unknown",
      error: { name: "EffectUnknown", message: "connection lost" },
      effect: { effectId: "eff_1", kind: "unknown", detail: "EffectUnknown: connection lost" },
    });
  });

  test("that is cut off by its timeout leaves it open what happened", async () => {
    const tools = testTools();
    const outcome = await run(
      {
        run: (ctx) => {
          tools.abort(new TimeoutError("n", 50));
          ctx.signal.throwIfAborted();
        },
      },
      tools,
    );
    expect(outcome).toMatchObject({
      kind: "timed_out",
      error: { name: "TimeoutError", message: "node n was not done after 50 ms" },
      effect: { kind: "unknown" },
    });
  });

  test("tells what its code threw after the timeout", async () => {
    const tools = testTools();
    const outcome = await run(
      {
        run: () => {
          tools.abort(new TimeoutError("n", 50));
          throw new Error("socket closed");
        },
      },
      tools,
    );
    expect(outcome).toMatchObject({
      error: { details: { thrown: { name: "Error", message: "socket closed" } } },
    });
  });

  test.each([new PausedError(), new HostStoppingError()])(
    "that is stopped by %s ends without a proposal",
    async (reason) => {
      const tools = testTools();
      const outcome = await run(
        {
          run: () => {
            tools.abort(reason);
            throw reason;
          },
        },
        tools,
      );
      expect(outcome).toEqual({ kind: "stopped" });
    },
  );

  test("that returns has done its effect, however late", async () => {
    const tools = testTools();
    const late = {
      run: () => {
        tools.abort(new TimeoutError("n", 50));
        return "done";
      },
    };
    expect(await run(late, tools)).toEqual({
      kind: "ok",
      outputJson: '"done"',
      effect: applied('"done"'),
    });
  });

  test("with an output that JSON cannot hold fails, and its effect stays applied", async () => {
    const outcome = await run({ run: () => ({ items: [new Date(0)] }) });
    expect(outcome).toMatchObject({
      kind: "failed",
      retryable: false,
      error: {
        name: "JsonValueError",
        message: "outputs.n.items[0]: Date is not JSON; use toISOString()",
      },
      effect: applied("null"),
    });
  });

  test("keeps only a digest of a large output in its receipt", async () => {
    const outcome = await run({ run: () => "x".repeat(9_000) });
    expect(outcome).toMatchObject({ kind: "ok" });
    const receipt =
      outcome.kind === "ok" && outcome.effect?.kind === "applied" ? outcome.effect.receiptJson : "";
    expect(JSON.parse(receipt)).toEqual({
      digest: expect.stringMatching(/^[\da-f]{64}$/) as unknown,
      bytes: 9_002,
    });
  });

  test("fails before it asks when its request cannot be built", async () => {
    const tools = testTools();
    const effect = manualEffect("t", { request: () => new Map() });
    const outcome = await run({ effect, run: () => 1 }, tools);
    expect(outcome).toMatchObject({
      kind: "failed",
      error: { message: "nodes.n.effect.request: Map is not JSON; use Object.fromEntries()" },
    });
    expect(tools.heard.effects).toEqual([]);
  });

  test("does nothing when the grant is refused", async () => {
    const body = vi.fn<() => void>();
    expect(await run({ run: body }, testTools({ kind: "blocked" }))).toEqual({ kind: "stopped" });
    expect(body).not.toHaveBeenCalled();
  });

  test("does nothing when its time was over while it asked", async () => {
    const tools = testTools();
    const body = vi.fn<() => void>();
    const beginEffect: TestTools["beginEffect"] = (request) => {
      tools.abort(new TimeoutError("n", 5));
      return tools.beginEffect(request);
    };
    const outcome = await run({ run: body }, { ...tools, beginEffect });
    expect(outcome).toMatchObject({ kind: "timed_out", effect: { kind: "rejected" } });
    expect(body).not.toHaveBeenCalled();
  });

  test("uses a stored receipt in place of acting", async () => {
    const body = vi.fn<() => void>();
    const outcome = await run(
      { run: body },
      testTools({ kind: "stored", receiptJson: '{"id":7}' }),
    );
    expect(outcome).toEqual({ kind: "ok", outputJson: '{"id":7}', effect: applied('{"id":7}') });
    expect(body).not.toHaveBeenCalled();
  });

  test("says so when a stored receipt no longer holds the output", async () => {
    const outcome = await run(
      { run: () => 1 },
      testTools({ kind: "stored", receiptJson: '{"digest":"a","bytes":9}' }),
    );
    expect(outcome).toMatchObject({
      kind: "failed",
      retryable: false,
      error: { name: "OutputLostError" },
    });
  });
});
