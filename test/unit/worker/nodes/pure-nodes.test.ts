import { describe, expect, test, vi } from "vitest";
import type { NodeOutcome } from "../../../../src/worker/nodes/executor.ts";
import { execute } from "../../../../src/worker/nodes/index.ts";
import {
  CancelledError,
  NonRetryableError,
  TimeoutError,
} from "../../../../src/workflow/errors.ts";
import { checkpoint, compute, wait } from "../../../../src/workflow/nodes.ts";
import type { NodeDefinition } from "../../../../src/workflow/nodes.ts";
import { testContext, testTools } from "../../../support/node-tools.ts";

function run(node: NodeDefinition, tools = testTools()): Promise<NodeOutcome> {
  return execute(node, testContext(tools, { input: { n: 5 } }), tools);
}

describe("a compute node", () => {
  test("ends with its value as JSON text", async () => {
    expect(await run(compute({ run: ({ input }) => ({ input, gone: undefined }) }))).toEqual({
      kind: "ok",
      outputJson: '{"input":{"n":5}}',
    });
  });

  test("that returns nothing has the output null", async () => {
    expect(await run(compute({ run: () => undefined }))).toEqual({
      kind: "ok",
      outputJson: "null",
    });
  });

  test.each<[unknown]>([[false], [0], [""], [null], [[]], [{}]])(
    "keeps the empty value %j",
    async (value) => {
      expect(await run(compute({ run: () => value }))).toEqual({
        kind: "ok",
        outputJson: JSON.stringify(value),
      });
    },
  );

  test("fails with the place of what JSON cannot hold", async () => {
    expect(await run(compute({ run: () => ({ a: [1n] }) }))).toMatchObject({
      kind: "failed",
      retryable: false,
      error: { message: "outputs.n.a[0]: BigInt is not JSON; use a string" },
    });
  });

  test("fails with what it threw, and says whether trying again may help", async () => {
    const plain = compute({ run: () => Promise.reject(new RangeError("out of range")) });
    expect(await run(plain)).toMatchObject({
      kind: "failed",
      retryable: true,
      error: { name: "RangeError" },
    });
    const final = compute({
      run: () => {
        throw new NonRetryableError("never");
      },
    });
    expect(await run(final)).toMatchObject({ kind: "failed", retryable: false });
  });

  test("keeps the first error when its fields cannot be read", async () => {
    const odd = Object.assign(new Error("the first error"), { n: 1n });
    const outcome = await run(compute({ run: () => Promise.reject(odd) }));
    expect(outcome).toMatchObject({
      error: { message: "the first error", details: { n: "[BigInt 1]" } },
    });
  });

  test("that comes back after its deadline has timed out", async () => {
    const tools = testTools();
    const late = compute({
      run: () => {
        tools.abort(new TimeoutError("n", 9));
        return 1;
      },
    });
    expect(await run(late, tools)).toMatchObject({
      kind: "timed_out",
      error: { name: "TimeoutError" },
    });
  });

  test("that is cancelled ends without a proposal", async () => {
    const tools = testTools();
    const stopped = compute({
      run: ({ signal }) => {
        tools.abort(new CancelledError());
        signal.throwIfAborted();
      },
    });
    expect(await run(stopped, tools)).toEqual({ kind: "stopped" });
  });
});

describe("a checkpoint", () => {
  test("asks with a summary, the request it built and its schema", async () => {
    const node = checkpoint({
      summary: ({ input }) => `Go on with ${JSON.stringify(input)}?\n\u0007 Really?`,
      run: async ({ input }) => ({ input }),
      schema: { type: "boolean" },
    });
    expect(await run(node)).toEqual({
      kind: "interaction",
      request: {
        kind: "checkpoint",
        summary: 'Go on with {"n":5}? Really?',
        requestJson: '{"input":{"n":5}}',
        schemaJson: '{"type":"boolean"}',
      },
    });
  });

  test("needs no request and no schema", async () => {
    expect(await run(checkpoint({ summary: "Go?" }))).toEqual({
      kind: "interaction",
      request: { kind: "checkpoint", summary: "Go?", requestJson: "null" },
    });
  });

  test("cuts a giant summary", async () => {
    const outcome = await run(checkpoint({ summary: "x".repeat(9_999) }));
    expect(outcome.kind === "interaction" ? outcome.request.summary.length : 0).toBe(501);
  });

  test.each<[NodeDefinition, string]>([
    [checkpoint({ summary: () => "" }), "nodes.n.summary: must not be empty"],
    [checkpoint({ summary: () => 5 as never }), "nodes.n.summary: must be a text, not number"],
    [
      checkpoint({ summary: "x", run: () => new Set() }),
      "nodes.n.request: Set is not JSON; use an array",
    ],
    [checkpoint({ summary: "x", run: () => Promise.reject(new Error("no data")) }), "no data"],
  ])("fails when it cannot ask (%#)", async (node, message) => {
    expect(await run(node)).toMatchObject({ kind: "failed", error: { message } });
  });

  test("that is cancelled while it builds its request asks nobody", async () => {
    const tools = testTools();
    const node = checkpoint({ summary: "x", run: () => tools.abort(new CancelledError()) });
    expect(await run(node, tools)).toEqual({ kind: "stopped" });
  });
});

describe("a wait", () => {
  const now = Date.UTC(2024, 0, 1);

  test.each<[string, NodeDefinition, number]>([
    ["a time from now", wait({ forMs: 90_000 }), now + 90_000],
    [
      "a computed time from now",
      wait({ forMs: ({ input }) => (input as { n: number }).n }),
      now + 5,
    ],
    ["longer than a timer of the platform", wait({ forMs: 2 ** 40 }), now + 2 ** 40],
    ["until a date", wait({ until: () => new Date(now + 7) }), now + 7],
    ["until an ISO text", wait({ until: async () => "2024-01-02T00:00:00Z" }), now + 86_400_000],
    ["until a moment that is past", wait({ until: () => 5 }), 5],
  ])("is due after %s", async (_name, node, dueAtMs) => {
    vi.useFakeTimers({ now });
    expect(await run(node)).toEqual({ kind: "wait", dueAtMs });
    vi.useRealTimers();
  });

  test.each<[NodeDefinition, RegExp]>([
    [wait({ forMs: () => -1 }), /^nodes\.n\.forMs: must be more than 0 ms/],
    [wait({ forMs: () => Number.NaN }), /^nodes\.n\.forMs: must be a finite/],
    [wait({ until: () => "soon" }), /^nodes\.n\.until: must be a Date/],
    [wait({ until: () => Promise.reject(new Error("no calendar")) }), /^no calendar$/],
  ])("fails when nobody can say when (%#)", async (node, message) => {
    expect(await run(node)).toMatchObject({
      kind: "failed",
      error: { message: expect.stringMatching(message) as unknown },
    });
  });
});
